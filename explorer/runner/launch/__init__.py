"""Selects a launch of the user's code, makes its inputs, and finds its reference. Jail side."""

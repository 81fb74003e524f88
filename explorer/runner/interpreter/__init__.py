"""Runs a launch in Triton's interpreter, and counts its operations. Jail side."""

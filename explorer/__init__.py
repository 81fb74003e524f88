"""Explore everything the Triton compiler does to a kernel."""

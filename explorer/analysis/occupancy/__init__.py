"""Theoretical occupancy of a kernel, and the waves of a grid."""

"""Interfaces to profilers: Proton, Nsight Compute, and the CUPTI that comes with Triton. Jail side."""

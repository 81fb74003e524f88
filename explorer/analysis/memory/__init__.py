"""Shared memory and tensor memory: buffers, barriers, bank conflicts."""

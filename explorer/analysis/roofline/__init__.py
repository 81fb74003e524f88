"""How far a kernel is from the limits of the GPU. `compose.roofline` is the entry point."""

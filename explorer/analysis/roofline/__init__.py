"""How far a kernel is from the speed of light of the GPU: see `roofline`."""

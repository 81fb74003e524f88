"""Instructions of PTX, SASS and AMDGCN: their purposes, their origins, and the samples at them."""

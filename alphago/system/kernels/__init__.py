"""How kernels are compiled, and hashing for them."""

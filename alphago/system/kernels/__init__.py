"""Compilation and caching of kernels, and hash functions for them."""

"""Searches without a network, compiled with numba."""

"""Loops compiled with numba: what is played by searches without a network."""

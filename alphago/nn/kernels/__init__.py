"""Compiled kernels for the elementwise operations of training and for a network's outputs."""

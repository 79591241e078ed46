"""Compiled kernels for training's elementwise operations and for a network's outputs."""

"""Boards on the GPU: the rules of Go in CUDA, and the same source compiled for the CPU."""

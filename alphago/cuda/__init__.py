"""A device for kernels: a CUDA GPU, or the CPU with the same source compiled by a C++ compiler.

A game hands in its program (`source.Program`); nothing here knows its rules.
"""

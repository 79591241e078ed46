"""Run CUDA kernels on a GPU, or on the CPU with the same source compiled by a C++ compiler.

Each game supplies its kernels as a `kernel_source.Program`; this package does not know any game's rules.
"""

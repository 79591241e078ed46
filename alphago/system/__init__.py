"""Helpers for all other packages: files, cores, time measurement, kernels, and checks of arguments."""

"""The rules of the games, compiled with numba."""

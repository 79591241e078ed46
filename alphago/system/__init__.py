"""Helpers for all other packages: files, cores, time, and checks of what a caller passes."""

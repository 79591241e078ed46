"""Runs of several settings with several seeds, one process a core, and their comparison."""

"""Evaluators for search: fast frozen copies of a network for each kind of hardware."""

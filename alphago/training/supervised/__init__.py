"""Supervised training on given games instead of self-play."""

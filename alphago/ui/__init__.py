"""Interfaces through which people and programs play with the engine."""

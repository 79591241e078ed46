"""Interfaces of the engine to people and programs."""

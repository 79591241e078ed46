"""A game against the engine at the terminal."""

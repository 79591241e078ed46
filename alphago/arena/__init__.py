"""Matches: players that move in many games at once, and how strong each of them is."""

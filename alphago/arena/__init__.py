"""Matches between players, many games at once, and ratings computed from their results."""

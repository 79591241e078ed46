"""A game in plain Python, as an example to copy."""

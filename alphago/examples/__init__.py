"""Two games in plain Python, as examples to copy."""

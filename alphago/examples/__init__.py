"""Two games in plain Python, to read and to copy."""

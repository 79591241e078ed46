"""Games in plain Python, as examples to copy."""

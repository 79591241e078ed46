"""A run on disk: its folder, state, games, and how it is resumed."""

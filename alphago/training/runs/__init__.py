"""Runs on disk: the folder, the saved state, the saved games, and resuming."""

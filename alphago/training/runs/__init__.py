"""Runs on disk: config, folder, saved games and saved state."""

"""Learning from given games instead of self-play."""

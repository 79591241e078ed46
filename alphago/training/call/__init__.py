"""One call of `train`: its plan, its session, and what it tells."""

"""Networks as search computes them: a fast snapshot for each kind of hardware."""

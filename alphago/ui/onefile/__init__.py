"""One file that plays a network in any browser."""

"""Networks for search: a fast snapshot for each kind of hardware."""

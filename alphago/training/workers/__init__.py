"""Self-play on other processes and machines: one kind of task, and the transports that carry it."""

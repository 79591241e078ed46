"""The training loop: self-play, replay memory, learning, and the run folder that holds its results."""

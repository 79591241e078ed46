"""The training loop: self-play, memory, training, and the run folder they leave."""

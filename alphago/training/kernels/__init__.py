"""The compiled parts of the replay memory."""

"""The settings of self-play, of learning and of a run: frozen dataclasses that compose."""

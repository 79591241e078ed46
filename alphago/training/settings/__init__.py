"""The settings of self-play, of learning and of a run: frozen dataclasses that compose (see `alphago.system.settings`).

Each field is one declaration (`setting`, `group`, `part`) with its help, default and range.
"""

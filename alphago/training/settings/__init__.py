"""The settings of self-play, of learning and of a run: frozen dataclasses that compose.

Each field is one declaration (`setting`, `group`, `part`) with its help, default and range.
`alphago.training.run_parts` gives the parts their names, and each setting the keyword and the flag by which `train`
takes it.
"""

"""Names that other libraries use: reading one of them raises an error that says what to use instead."""

from collections.abc import Mapping
from typing import NoReturn

# For an environment, a position and a network: names of AlphaGo.jl, Gymnasium, PettingZoo, python-chess and Keras.
GAME_NAMES = {
    "reset": "env.position() is the game's start; alphago.VectorEnv(env, 4096) resets many games",
    "step": "env.position().play(move) returns the next position; alphago.VectorEnv(env, 4096) plays many games",
    "play": "env.position().play(move) returns the next position; alphago.play plays against you",
    "legal_moves": "env.position().legal_mask has an entry for each action",
    "max_action_space": "env.action_space is the number of actions",
    "to_kgs": "env.to_text(action) is the text of a move, such as C3",
    "render": "print(position) or position.svg() shows a position",
    "observation_space": "env.planes and env.plane_shape are the shape of position.planes()",
}
POSITION_NAMES = {
    "move": "position.play(move) returns the next position",
    "step": "position.play(move) returns the next position",
    "push": "position.play(move) returns the next position",
    "pop": "a position never changes, and the one before is still there",
    "legal_moves": "position.legal_mask has an entry for each action",
    "turn": "position.to_play is 1 for the first player (Black), -1 for the second",
    "winner": "position.result is 1 if the first player (Black) wins, -1 if the second",
}
NETWORK_NAMES = {
    "predict": "net(position) returns the policy and the value",
    "fit": "alphago.train, train_on and train_supervised train a network",
    "load": "alphago.load_model(path) loads a network",
}


class NameHint:
    """A class attribute for a name that other libraries use: reading it raises AttributeError with a hint.

    `hasattr` therefore returns False for the name, and a derived class may define it.
    """

    def __init__(self, name: str, hint: str) -> None:
        self.name = name
        self.hint = hint

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise AttributeError(f"{owner.__name__} has no {self.name}: {self.hint}")


def add_name_hints(cls: type, hints: Mapping[str, str]) -> None:
    """Let a class answer for names that other libraries use, such as GAME_NAMES.

    Reading one of these names from the class or its objects raises AttributeError with the hint for this name.

    Args:
        hints: for each name, what to use instead.
    """
    for name, hint in hints.items():
        setattr(cls, name, NameHint(name, hint))

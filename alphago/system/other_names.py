"""What other libraries call otherwise: names whose use says what stands here in their place."""

from collections.abc import Callable, Mapping
from typing import NoReturn, TypeVar

Class = TypeVar("Class")

# For an environment, a position and a network: the names of Gymnasium, PettingZoo, python-chess and Keras.
GAME_NAMES = {
    "reset": "env.position() is the game's start",
    "step": "env.position().play(move) returns the next position",
    "play": "env.position().play(move) returns the next position; alphago.play plays against you",
    "legal_moves": "env.position().legal_mask has an entry for each action",
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


class CalledOtherwise:
    """A name that a class does not have, and that raises AttributeError with the place to look.

    So it does not exist for `hasattr`, and a derived class may define it.
    """

    def __init__(self, name: str, hint: str) -> None:
        self.name = name
        self.hint = hint

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise AttributeError(f"{owner.__name__} has no {self.name}: {self.hint}")


def called_otherwise(names: Mapping[str, str]) -> Callable[[type[Class]], type[Class]]:
    """Return a decorator that lets a class name, for each of these names, what it has instead."""

    def decorate(cls: type[Class]) -> type[Class]:
        for name, hint in names.items():
            setattr(cls, name, CalledOtherwise(name, hint))
        return cls

    return decorate

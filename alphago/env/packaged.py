"""The networks that come with the package, by name: "7x7" for a board of Go, "connect-four" for another game."""

import re
from collections.abc import Iterable
from pathlib import Path

from alphago.env.game import GameEnv
from alphago.env.games import USUAL_GAME
from alphago.env.go_rules import usual_komi

NETWORKS = Path(__file__).parents[1] / "nets"
BOARD = re.compile(r"([0-9]+)x\1")  # the name of a network for Go


def packaged_nets() -> list[str]:
    """Return the names of the networks that come with the package: boards of Go, small ones first, then other games."""
    names = (path.stem for path in NETWORKS.glob("*.safetensors"))
    return sorted(names, key=lambda name: (board_of(name) or 99, name))


def usual_game(env: GameEnv) -> GameEnv:
    """Return a game of a packaged network as people play it: of Go, with the usual komi of its board."""
    return env if env.name != USUAL_GAME else env.replace(komi=usual_komi(env.N))


def board_of(name: str) -> int | None:
    """Return the size of the board that a name such as "7x7" stands for; None for other names."""
    return int(found[1]) if (found := BOARD.fullmatch(name)) else None


def packaged_net(game: str, size: int, names: Iterable[str] | None = None) -> str | None:
    """Return the name of the packaged network that plays a game best, or None if there is none.

    In Go it is the one of the board, else of the next larger board, else of the largest; in other games it is the
    game's.

    game: the game's name.  size: `GameEnv.N`.  names: the networks to choose from; None for all.
    """
    names = packaged_nets() if names is None else list(names)
    if game != USUAL_GAME:
        return game if game in names else None
    boards = sorted((board, name) for name in names if (board := board_of(name)) is not None)
    fitting = [name for board, name in boards if board >= size]
    if fitting:
        return fitting[0]
    return boards[-1][1] if boards else None

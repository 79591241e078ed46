"""The networks that come with the package, by name.

"7x7" is for a board of Go; "9x9-large" is a second one for a board, stronger and slower; "connect-four" is for another
game.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from alphago.env.game import GameEnv
from alphago.env.games import USUAL_GAME
from alphago.env.go_rules import usual_komi

NETWORKS = Path(__file__).parents[1] / "nets"
BOARD = re.compile(r"([0-9]+)x\1(-large)?")  # the name of a network for Go


def packaged_nets() -> list[str]:
    """Return the names of the networks that come with the package: boards of Go, small ones first, then other games."""
    names = sorted(path.stem for path in NETWORKS.glob("*.safetensors"))
    return sorted(names, key=lambda name: named_board_size(name) or float("inf"))  # other games last, in the same order


def usual_game(env: GameEnv) -> GameEnv:
    """Return the game of a packaged network as people play it: Go with the board's usual komi, others unchanged."""
    return env.replace(komi=usual_komi(env.N)) if env.name == USUAL_GAME else env


def named_board_size(name: str) -> int | None:
    """Return the size of the board that a name such as "7x7" or "9x9-large" stands for; None for other names."""
    match = BOARD.fullmatch(name)
    return int(match[1]) if match else None


def packaged_net(game: str, size: int, names: Iterable[str] | None = None) -> str | None:
    """Return the name of the packaged network that plays a game by default, or None if no network plays the game.

    In Go it is the network of this board.  If there is none, it is that of the next larger board, or of the largest
    board if none is larger.  Networks called "large" are left out, since levels are measured with the others.  In other
    games it is the network that has the game's name.

    Args:
        game: the game's name.
        size: `GameEnv.N`.
        names: the networks to choose from; None for all.
    """
    names = packaged_nets() if names is None else list(names)
    if game != USUAL_GAME:
        return game if game in names else None
    usual = [name for name in names if not name.endswith("-large")]
    by_size = sorted((board_size, name) for name in usual if (board_size := named_board_size(name)) is not None)
    net_of_largest = by_size[-1][1] if by_size else None
    return next((name for board_size, name in by_size if board_size >= size), net_of_largest)

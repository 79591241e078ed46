"""Saved networks: where they are, those that come with the package among them, and the game that they are for."""

import re
from os import PathLike
from pathlib import Path

from alphago.env.game import GameEnv
from alphago.env.games import GAMES
from alphago.env.go import GoEnv
from alphago.nn.weights import ModelError, read_weights

LATEST = "weights.safetensors"  # what a run folder calls its latest network


PACKAGED = Path(__file__).parents[1] / "nets"  # networks that come with the package, named after their board


def packaged() -> list[str]:
    """The names of the networks that come with the package, "7x7" and the like, small boards first."""
    return sorted((path.stem for path in PACKAGED.glob("*.safetensors")), key=lambda name: (len(name), name))


def model_file(path: str | PathLike[str]) -> Path:
    """The file of a network: `path` itself, the latest one of the run folder that it names, or a packaged one.

    ModelError for the name of a packaged network that there is not.
    """
    if isinstance(path, str) and re.fullmatch(r"[0-9]+x[0-9]+", path) and not Path(path).exists():
        if path not in packaged():
            raise ModelError(f"no network {path} comes with the package: there are {', '.join(packaged()) or 'none'}")
        return PACKAGED / f"{path}.safetensors"
    path = Path(path)
    return path / LATEST if path.is_dir() and (path / LATEST).exists() else path


def saved_game(path: str | PathLike[str], board_size: int | None = None, komi: float | None = None) -> GameEnv:
    """The package's game that a saved network is for, on another board or with another komi if one is given.

    Go is what `saved_go` says.  ModelError with a sentence for a network of a game that is not the package's;
    ValueError for a board or a komi that the game does not have.
    """
    description = read_weights(path)[1]
    name = description["structure"].get("game")
    if name == GoEnv.name:
        return saved_go(path, board_size, komi)
    if name not in GAMES:
        raise ModelError(
            f"{path} holds a network for {description['env']}, which does not come with the package: pass it as env=…"
        )
    if komi is not None:
        raise ValueError(f"{name} has no komi, came {komi:g}")
    try:
        env = GAMES[name](**description["env_config"])
    except (TypeError, ValueError) as error:
        raise ModelError(f"{path} has a damaged description: {error}") from error
    return env if board_size in (None, env.N) else env.resized(board_size)


def saved_go(path: str | PathLike[str], board_size: int | None = None, komi: float | None = None) -> GoEnv:
    """Go as a saved network knows it: its input planes and rules, and its board and komi where none are given.

    On another board than its own, komi is `GoEnv`'s default; so are rules that it does not name.  Options of
    self-play and ply limits that were saved do not count.  ModelError with a sentence for a network of another game.
    """
    description = read_weights(path)[1]
    if description["structure"].get("game") != GoEnv.name:
        raise ModelError(f"{path} holds a network for {description['env']}, wanted one for Go")
    saved = description["env_config"]
    try:
        size = saved["board_size"] if board_size is None else board_size
        own_komi = saved["komi"] if size == saved["board_size"] else None
        rules = {name: saved[name] for name in ("ko", "suicide", "turns") if name in saved}
        return GoEnv(size, komi=own_komi if komi is None else komi, planes=saved["planes"], **rules)
    except (KeyError, TypeError) as error:
        raise ModelError(f"{path} has a damaged description: {error}") from error

"""Saved networks: where they are, those that come with the package among them, and the game that they are for."""

import re
from os import PathLike
from pathlib import Path

from alphago.env.game import GameEnv
from alphago.env.games import GAMES, with_settings
from alphago.nn.model_files import ModelError, read_weights

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
    """The package's game that a saved network is for (`GameEnv.from_saved`), on another board or with another komi.

    On another board than its own, komi is that board's usual one unless it is given.  ModelError with a sentence for a
    network of a game that is not the package's; ValueError for a board or a komi that the game does not have.
    """
    description = read_weights(path)[1]
    name = description["structure"].get("game")
    if name not in GAMES:
        raise ModelError(
            f"{path} holds a network for {description['env']}, which does not come with the package: pass it as env=…"
        )
    try:
        env = GAMES[name].from_saved(description["env_config"])
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{path} has a damaged description: {error}") from error
    if board_size not in (None, env.N):
        env = env.resized(board_size)
    return env if komi is None else with_settings(env, {"komi": komi})

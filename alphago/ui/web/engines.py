"""The networks that a page may choose from, loaded when they are first used, each with one evaluator for all."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alphago.env.game import GameEnv, Position
from alphago.env.games import GAMES
from alphago.mcts.evaluator import as_evaluator
from alphago.mcts.player import MCTSPlayer
from alphago.mcts.playout_evaluator import PlayoutEvaluator
from alphago.ui.web.batches import in_common

PLAYOUTS = "playouts"  # the engine without a network
KEPT = 8  # evaluators kept at a time: one for each network and game in use


@dataclass(frozen=True)
class Choice:
    """A network that the page offers.

    name: what the page calls it in messages.
    source: a file, a run folder or a packaged network's name, as `load_model` takes it; a network itself; or PLAYOUTS.
    game: the name of its game; "" for any game.
    """

    name: str
    source: Any
    game: str


class Engine:
    """A network, or playouts, for one game: an evaluator for all searches, and what only a network can forecast."""

    def __init__(self, env: GameEnv, network: Any, device: str = "auto") -> None:
        self.env = env
        self.network = network
        self.evaluator = in_common(env, as_evaluator(network, env, device))
        self.lock = threading.Lock()

    def new_player(self) -> MCTSPlayer:
        """Return a search of one game, which shares the evaluator with all others."""
        threshold = getattr(self.network, "resign_threshold", -1.0)
        return MCTSPlayer(self.env, self.evaluator, two_player_mode=True, resign_threshold=threshold)

    def forecast(self, position: Position) -> Any:
        """Return the network's `PositionForecast`; None if it makes none, or the game has no points."""
        if not self.env.has_ownership or not hasattr(self.network, "forecast"):
            return None
        try:
            with self.lock:
                return self.network.forecast(position)
        except ValueError:  # a value head without score and ownership
            return None


class Engines:
    """The networks that pages may choose from.

    choices: in the order in which they are offered; the first that plays a game is its usual one.
    device: where networks are computed, see `as_evaluator`.
    """

    def __init__(self, choices: Sequence[Choice], device: str = "auto") -> None:
        self.choices = {choice.name: choice for choice in choices}
        self.device = device
        self.engines: OrderedDict[Any, Engine] = OrderedDict()
        self.lock = threading.Lock()
        self.loading: dict[Any, threading.Lock] = {}

    def usual(self, env: GameEnv) -> str:
        """Return the name of the network that plays a game unless another is chosen."""
        suiting = [choice.name for choice in self.choices.values() if choice.game == env.name]
        exact = [name for name in suiting if name == f"{env.N}x{env.N}"]
        own = [name for name in suiting if not is_packaged(self.choices[name])]
        larger = [name for name in suiting if is_packaged(self.choices[name]) and int(name.partition("x")[0]) >= env.N]
        return (own or exact or larger or suiting[-1:] or [PLAYOUTS])[0]

    def check(self, name: str, env: GameEnv) -> str:
        """Return the name if such a network plays the game; raise ValueError otherwise."""
        choice = self.choices.get(name)
        if choice is None:
            raise ValueError(f"network must be one of {', '.join(self.choices)}, got {name!r}")
        if choice.game not in ("", env.name):
            raise ValueError(f"{name} is a network for {choice.game}, and this game is {env.name}")
        return name

    def offered(self) -> list[dict[str, str]]:
        """Return the networks as the page lists them."""
        return [{"name": choice.name, "game": choice.game} for choice in self.choices.values()]

    def engine(self, name: str, env: GameEnv) -> Engine:
        """Return the engine for a game, loaded if it is not kept; a run's newest network is loaded anew.

        Raises ValueError if the network cannot be loaded or does not play the game.
        """
        if (ready := self.ready(name, env)) is not None:
            return ready
        key = self._key(name, env)
        with self.lock:
            lock = self.loading.setdefault(key, threading.Lock())
        with lock:
            if key not in self.engines:
                engine = self._load(self.choices[name], env)
                with self.lock:
                    self.engines[key] = engine
                    self.loading.pop(key, None)
                    while len(self.engines) > KEPT:
                        self.engines.popitem(last=False)
                return engine
        return self.engine(name, env)

    def ready(self, name: str, env: GameEnv) -> Engine | None:
        """Return the engine for a game if it is loaded already, else None; raise ValueError for one that cannot be."""
        key = self._key(name, env)
        with self.lock:
            if key in self.engines:
                self.engines.move_to_end(key)
            return self.engines.get(key)

    def _key(self, name: str, env: GameEnv) -> Any:
        choice = self.choices[self.check(name, env)]
        return name, file_time(choice.source), without_komi(env)

    def _load(self, choice: Choice, env: GameEnv) -> Engine:
        if choice.source == PLAYOUTS:
            return Engine(env, PlayoutEvaluator(env, playouts=4))
        network = choice.source
        if isinstance(network, (str, Path)):
            from alphago.nn.model_files import model_file, saved_game
            from alphago.nn.net import load_model  # only now: it loads torch

            path = model_file(network)
            own = saved_game(path) if choice.game in GAMES else env
            network = load_model(path, seen_by(own, env))
        own = getattr(network, "env", env)
        if hasattr(network, "resized") and own.plane_shape != env.plane_shape:
            network = network.resized(seen_by(own, env))
        return Engine(seen_by(own, env), network, self.device)


def is_packaged(choice: Choice) -> bool:
    """Return whether a network comes with the package: these are known by their board, such as 9x9."""
    return choice.source == choice.name and choice.name != PLAYOUTS


def seen_by(own: GameEnv, env: GameEnv) -> GameEnv:
    """Return `env` as a network for the game `own` sees it: with the planes of that network."""
    if "planes" in env.config and "planes" in own.config:
        return env.replace(planes=own.config["planes"])
    return env


def without_komi(env: GameEnv) -> GameEnv:
    """Return the game with its usual komi: an evaluator serves games of any."""
    return env.replace(komi=0.5) if "komi" in env.config else env


def file_time(source: Any) -> int:
    """Return when the newest network of a file or run folder was written, 0 for what is no path."""
    if not isinstance(source, Path):
        return 0
    newest = source / "weights.safetensors" if source.is_dir() else source
    return newest.stat().st_mtime_ns if newest.exists() else 0

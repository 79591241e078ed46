"""The networks that a page may choose from, loaded when first used, each with one evaluator for all its searches."""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from alphago.env.game import GameEnv
from alphago.env.games import GAMES, USUAL_GAME, with_planes
from alphago.env.packaged_nets import packaged_net
from alphago.mcts import levels
from alphago.mcts.analyst import Analyst
from alphago.mcts.evaluator import PlayoutEvaluator, as_evaluator, fitting_network
from alphago.mcts.puct import Puct
from alphago.ui.web.guard import TREE_BYTES

PLAYOUTS = "playouts"  # the engine without a network
PLAYOUTS_A_LEAF = 4  # random games from each leaf of a search without a network
MOST_LEAVES = 32  # new leaves of a wave in a large tree
THREAD = "alphago-engine"  # the name of the threads that search
MOST_ENGINES = 8  # most engines that are kept, one for each network and game; more are in memory while pages use them


class Choice(NamedTuple):
    """A network that the page offers.

    Attributes:
        name: what the page calls it in messages.
        source: the network itself; or a file, a run folder or a packaged network's name, from which `load_model` loads
            it; or PLAYOUTS.
        game: the name of its game; "" for any game.
        size: `N` of the board that it was made for; 0 for any board.
        named_by_user: whether the user named it when starting the server; if not, it comes with the package.
    """

    name: str
    source: Any
    game: str
    size: int = 0
    named_by_user: bool = True


class SharedEngine:
    """A network, or playouts, for one game, with one analyst for all pages, which ends once nothing uses the engine.

    Args:
        env: the game, with the network's input planes.
        network: the network, or a `PlayoutEvaluator`.
        device: the network's device: "cpu", "cuda" or "auto".
    """

    def __init__(self, env: GameEnv, network: object, device: str = "auto") -> None:
        self.env, self.network = env, network
        evaluator = self.evaluator = as_evaluator(network, env, device, forecasts=True)
        settings = Puct(leaves=MOST_LEAVES)
        # The analyst must not hold the engine: its threads hold the analyst, so that neither would ever end.
        self.analyst = Analyst(
            network, settings=settings, evaluators=lambda env: evaluator, tree_bytes=TREE_BYTES, name=THREAD
        )
        # In a thread, since `close` waits for searches, and the last use may end anywhere, also under a lock.
        closing = threading.Thread(target=self.analyst.close, daemon=True)
        weakref.finalize(self, closing.start).atexit = False


class Engines:
    """The networks that pages may choose from.

    Args:
        choices: the networks, in the order in which they are offered.
        device: where networks are computed, see `as_evaluator`.
        level: the strength with which a page begins, see `alphago.mcts.levels`; None for full strength.
    """

    def __init__(self, choices: Sequence[Choice], device: str = "auto", level: levels.Level | None = None) -> None:
        self.choices = {choice.name: choice for choice in choices}
        self.device, self.level = device, level
        self.engines: OrderedDict[Any, SharedEngine] = OrderedDict()  # by `_key`, the least recently used one first
        self.lock = threading.Lock()  # of `engines`
        self.loading = threading.Lock()  # held while an engine is being loaded, during which others can be used

    def usual_network(self, env: GameEnv) -> str:
        """Return the name of the network that plays a game unless another is chosen; PLAYOUTS if no network plays it.

        Networks for the game's board come before others, and those that the user named come before packaged ones.  Of
        the packaged ones only one counts: the one for the board, or if there is none, for the next larger board.
        """
        of_game = [choice for choice in self.choices.values() if choice.game == env.name]
        packaged = packaged_net(env.name, env.N, [choice.name for choice in of_game if not choice.named_by_user])
        candidates = [choice for choice in of_game if choice.named_by_user or choice.name == packaged]
        # False comes before True.  First come the networks for this board or for any board, whose size is 0; among
        # networks that are equal in this, first those that the user named.
        candidates.sort(key=lambda choice: (choice.size not in (0, env.N), not choice.named_by_user))
        return candidates[0].name if candidates else PLAYOUTS

    def check(self, name: str, env: GameEnv) -> str:
        """Return `name` if a network of this name is offered and plays the game; raise ValueError otherwise."""
        choice = self.choices.get(name)
        if choice is None:
            raise ValueError(f"network must be one of {', '.join(self.choices)}, got {name!r}")
        if choice.game not in ("", env.name):  # "" is for any game
            raise ValueError(f"{name} is a network for {choice.game}, and this game is {env.name}")
        return name

    def measured_network(self, name: str, env: GameEnv) -> str:
        """Return the name of a network if the levels of a game were measured with it, else "".

        It is "" for a file that is not loaded yet, of which this is not known.
        """
        if name not in self.choices:  # only PLAYOUTS may be missing, which is no network
            return ""
        source, packaged = self.choices[name].source, packaged_net(env.name, env.N)
        if str(source) == packaged:  # the levels were measured with the packaged network
            return packaged
        engine = self.loaded_engine(name, env)
        network = source if engine is None else engine.network  # a file that is not loaded stays a path
        return levels.measured_network(network, env)  # "" for a path

    def is_made_for(self, name: str, env: GameEnv) -> bool:
        """Return whether a network is made for a game; playouts, which play any game, count for all games but Go."""
        game = self.choices[name].game
        return game == env.name or (game == "" and env.name != USUAL_GAME)

    def engine(self, name: str, env: GameEnv, tell: Callable[[str], object] = str) -> SharedEngine:
        """Return the engine of the network `name` for a game; load it if it is not in memory, or its file has changed.

        Args:
            tell: called with a text when loading begins, and with "" when it ends; the default `str` does nothing.

        Raises:
            ValueError: if the network cannot be loaded or does not play the game.
        """
        if (engine := self.loaded_engine(name, env)) is not None:
            return engine
        tell(f"Loading {name} for {env.name} …")
        try:
            with self.loading:  # not `lock`, so that engines in memory can be used meanwhile
                engine = self.loaded_engine(name, env) or self._load(name, env)  # another thread may have loaded it
                with self.lock:
                    self.engines[self._key(name, env)] = engine
                    while len(self.engines) > MOST_ENGINES:  # the one that was used least recently goes
                        self.engines.popitem(last=False)
            return engine
        finally:
            tell("")

    def loaded_engine(self, name: str, env: GameEnv) -> SharedEngine | None:
        """Return the engine of the network `name` for a game if it is in memory, else None.

        Raises:
            ValueError: if no network of this name is offered, or it does not play the game.
        """
        key = self._key(name, env)
        with self.lock:
            if key in self.engines:
                self.engines.move_to_end(key)
            return self.engines.get(key)

    def _key(self, name: str, env: GameEnv) -> Any:
        """Return the key of an engine in `engines`: the network's name, the time of its file, and the game."""
        choice = self.choices[self.check(name, env)]
        any_komi = env.replace(komi=0.5) if "komi" in env.config else env  # games of any komi share an evaluator
        return name, file_time(choice.source), any_komi

    def _load(self, name: str, env: GameEnv) -> SharedEngine:
        """Return a new engine; raise ValueError for a network that does not fit the game.

        The engine's game is `env` with the network's input planes.  A network for another board is resized.
        """
        choice = self.choices[name]
        if choice.source == PLAYOUTS:
            return SharedEngine(env, PlayoutEvaluator(env, playouts=PLAYOUTS_A_LEAF))
        network = choice.source
        if isinstance(network, (str, Path)):
            from alphago.nn.model_files import model_file, saved_game
            from alphago.nn.net import load_model  # only now: it loads torch

            path = model_file(network)
            saved_env = saved_game(path) if choice.game in GAMES else env  # `saved_game` cannot make a user's own game
            network = load_model(path, with_planes(env, of=saved_env))
        engine_env = with_planes(env, of=getattr(network, "env", env))  # some networks play any game, and have no `env`
        return SharedEngine(engine_env, fitting_network(network, engine_env), self.device)


def file_time(source: object) -> int:
    """Return when a network's file was written, in nanoseconds; 0 if `source` is no path or has no file.

    Args:
        source: a file, or a run folder with the newest network's file.
    """
    if not isinstance(source, Path):
        return 0
    newest = source / "weights.safetensors" if source.is_dir() else source
    return newest.stat().st_mtime_ns if newest.exists() else 0

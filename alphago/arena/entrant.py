"""Entrants of a match, and their names: `runs/a@64,gumbel`, `9x9@level=7`, `rave:1000`, `alphabeta:8`, `random`."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from alphago.arena.alphabeta import AlphaBetaSettings, alphabeta, check_game_has_evaluation
from alphago.arena.engine import COMMAND_PREFIX, Engine, engine_of_command, gnugo
from alphago.arena.engine_player import check_engine
from alphago.arena.playout_player import PlayoutSettings, rave, uct
from alphago.arena.submission import Submission, find_submission
from alphago.env.game import GameEnv
from alphago.env.games import is_go, make_game, require_go, with_settings
from alphago.env.packaged_nets import packaged_nets
from alphago.mcts.evaluator import Evaluator, as_evaluator
from alphago.mcts.levels import FULL_STRENGTH, all_tables, check_level, level_text
from alphago.mcts.search_specs import PLAYER_RULE, SEARCHES, SELF_PLAY_RULE, SearchSpec, make_search, own_search
from alphago.nn.model_files import OF_KATAGO, model_file, saved_game
from alphago.nn.net import load_model
from alphago.system.files import user_path
from alphago.system.validation import MOST_READOUTS, check_int, checks_keywords, near_names

# What may play one side of a match.
PlayerSource = Evaluator | PlayoutSettings | AlphaBetaSettings | Engine | Submission | Literal["random"]
# Options of `alphago evaluate` for settings in which networks may differ.
OPTIONS = {"board_size": "--board-size", "komi": "--komi", "ko": "--rules", "suicide": "--rules", "turns": "--turns"}
# Players with a number of playouts, a depth or a level behind their name.
NUMBERED: dict[str, Callable[..., PlayoutSettings | AlphaBetaSettings | Engine]] = {
    player.__name__: player for player in (uct, rave, alphabeta, gnugo)
}


@checks_keywords()
@dataclass(frozen=True)
class Entrant:
    """One side of a match.

    Attributes:
        player: an evaluator, an Engine, a Submission, PlayoutSettings, AlphaBetaSettings or "random" (see
            `make_player`).
        readouts: simulations per move of an evaluator; 0 plays its policy without search.
        search: an evaluator's search, in a form of `alphago.mcts.search_specs`; None for "puct".
        name: shown in results.
        weights: SHA-256 of the network's or submission's file, or name and version of an engine; "" for other players.
        level: the level at which an evaluator plays, instead of `readouts`; None for its full strength.
        network: for an evaluator, the NeuralNet whose outputs it computes, or the name of this network: what a match on
            workers sends to them in place of the evaluator.  It is not used for other players.
    """

    player: PlayerSource
    readouts: int = 0
    search: SearchSpec = None
    name: str = ""
    weights: str = ""
    level: float | None = None
    network: object = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        readouts = check_int("readouts", self.readouts, 0, MOST_READOUTS)  # an int also where a numpy integer was given
        object.__setattr__(self, "readouts", readouts)  # the only way in a frozen class
        make_search(self.search, 1, 1)  # raises for an unknown search


@dataclass(frozen=True)
class EntrantText:
    """The parts of an entrant's name.

    Attributes:
        base: the part before the @.
        model: the network's file; None for a player without a network.
        readouts, search, level: as in `Entrant`; None if the name does not have it.
    """

    base: str
    model: Path | None
    readouts: int | None = None
    search: str | None = None
    level: float | None = None

    def with_defaults(self, readouts: int, search: str = PLAYER_RULE) -> "EntrantText":
        """Return the parts; a network whose name lacks readouts or a search gets the ones given here.

        A network at a level gets them too, but does not play by them.
        """
        if self.model is None:
            return self
        readouts = readouts if self.readouts is None else self.readouts
        return replace(self, readouts=readouts, search=self.search or search)

    @property
    def name(self) -> str:
        """The name from which `parse_entrant` gets these parts.

        It has no search if that is "puct" or if there are 0 readouts.
        """
        if self.model is None:
            return self.base
        if self.level is not None:
            return f"{self.base}@level={level_text(self.level)}"
        parts = [] if self.readouts is None else [str(self.readouts)]
        if self.search not in (None, PLAYER_RULE) and self.readouts != 0:
            parts.append(str(self.search))
        return f"{self.base}@{','.join(parts)}" if parts else self.base


def parse_entrant(text: str) -> EntrantText:
    """Parse the name of an entrant.

    Args:
        text: `MODEL`, `MODEL@64`, `MODEL@64,gumbel`, `MODEL@level=7`, or a player without a network (see `evaluate`).
            MODEL is a file, a run folder or a packaged network; a search may be FILE.py:CLASS, see `own_search`.

    Raises:
        ValueError: for any other text.
    """
    base, at, options = text.rpartition("@")
    parts = read_options(options)
    # The text has no options if it has no @, or only one in an engine's command or in the path of an existing file.
    is_plain = not at or text.startswith(COMMAND_PREFIX) or (parts is None and user_path(text).exists())
    if is_plain:
        player = find_player(text)
        return EntrantText(text, player if isinstance(player, Path) else None)
    model = network_file(base) if base else None
    if model is None:
        raise ValueError(f"{text}: only networks take readouts, and there is no network's file {base!r}")
    if parts is None:
        names = ", ".join([*SEARCHES, "FILE.py:CLASS of a rule of your own"])
        raise ValueError(f"{text}: after @ must come readouts, {names}, both as in 64,{SELF_PLAY_RULE}, or level=7")
    if "level" in parts:
        return entrant_at_level(text, base, model, parts["level"])
    readouts = int(parts["readouts"]) if "readouts" in parts else None
    name: Any = parts.get("search")
    search = name if name in (None, *SEARCHES) else own_search(name)
    return EntrantText(base, model, readouts, search)


def entrant_at_level(text: str, base: str, model: Path, level_name: str) -> EntrantText:
    """Return the parts of the entrant `text`, which has the level `level_name`; raise ValueError for an invalid one.

    Args:
        base, model: as in `EntrantText`.
    """
    level = check_level(level_name)
    if isinstance(level, str):  # "even", which follows an opponent through a game
        raise ValueError(f"{text}: a level in a match must be a number from 1 to {FULL_STRENGTH}")
    if level < FULL_STRENGTH:
        return EntrantText(base, model, level=level)
    # The highest level is a full search, with as many readouts as in the measurements of the levels (levels.json).
    return EntrantText(base, model, readouts=all_tables()["full"])


def read_options(options: str) -> dict[str, Any] | None:
    """Return the parts of what may come after an entrant's @, by name: "readouts", "search" or both, or "level".

    The search is None after readouts alone.  For any other text the result is None.
    """
    # The pattern is made at each call, since rules can be added to SEARCHES.
    search = rf"(?P<search>{'|'.join(map(re.escape, SEARCHES))}|[^,@=]+:[A-Za-z_]\w*)"
    # A comma parts readouts and search: "64,gumbel".  Without readouts both ",gumbel" and "gumbel" are read.
    for form in (f"(?P<readouts>[0-9]+)(,{search})?", f",?{search}", "level=(?P<level>.+)"):
        if match := re.fullmatch(form, options):
            return match.groupdict()
    return None


def entrant_for(player: object, env: GameEnv, readouts: int, search: SearchSpec = None, device: str = "cpu") -> Entrant:
    """Return one side of a match, whose player is given as in `evaluate`.

    Args:
        player: as in `evaluate`.
        readouts, search: used unless the player is a name with readouts or a search of its own, such as "runs/a@8".
        device: of a network, as in `evaluate`.
    """
    entry = parse_entrant(player) if isinstance(player, str) and "@" in player else None
    if entry is None or entry.model is None:  # not the name of a network with an @
        # `network` is used only if the player is a network or a network's name.
        return Entrant(resolve_player(player, env, device), readouts, search, network=player)
    entrant = make_entrant(entry.with_defaults(readouts), env, device, players={})
    # If the name has no search, `with_defaults` has filled in "puct".  The argument `search` takes its place: it may be
    # settings, and `with_defaults` could not have been given settings.
    return entrant if entry.search else replace(entrant, search=search)


def resolve_player(player: object, env: GameEnv | None = None, device: str = "cpu") -> PlayerSource:
    """Convert a player's name, a network, an evaluator or a function on positions to a `PlayerSource`.

    Args:
        env: the game that the player must be able to play; None to check nothing.
        device: where networks are computed, see `as_evaluator`.

    Raises:
        ValueError: for an unknown name or a player that cannot play `env`.
        EngineError: for an engine that cannot be started, or a named one that rejects the board size or komi of `env`.
    """
    is_name = isinstance(player, (str, PathLike))
    source: Any = find_player(str(player)) if is_name else player
    is_source = isinstance(source, (str, Engine, Submission, PlayoutSettings, AlphaBetaSettings))  # a str is "random"
    if not is_source:  # the path of a network, a network, an evaluator or a function
        return as_evaluator(source, env, device)
    if env is None:
        return source
    if isinstance(source, Engine):
        go = require_go(env, source.name)
        if is_name:  # an Engine is not started before the match, which raises the same error
            check_engine(go, source)
    if isinstance(source, PlayoutSettings) and source.equivalence:  # RAVE is for Go alone
        require_go(env, source.name)
    if isinstance(source, AlphaBetaSettings) and is_go(env):
        # Raises an error, since Go has no evaluation, and the end of its games is out of reach.  In other games without
        # an evaluation, such as a user's own, alpha-beta search can at least see wins and losses near the end.
        check_game_has_evaluation(env)
    return source


def network_file(name: str) -> Path | None:
    """Return the file or run folder of the network called `name`; None if `name` is not the name of a network.

    A path, or a name with the prefix "katago:" (OF_KATAGO), counts as a network's even if the file is missing, so that
    reading it says what is missing.
    """
    path = model_file(name)
    looks_like_file = "/" in name or name.endswith(".safetensors") or name.startswith(OF_KATAGO)
    return path if looks_like_file or path.exists() else None


def find_player(name: str) -> PlayoutSettings | AlphaBetaSettings | Engine | Submission | Path | Literal["random"]:
    """Return the player called `name`: a player without a network, or the path of a network's file or run folder.

    Raises:
        ValueError: with similar names, for an unknown name.
        EngineError: for an engine that is not installed.
    """
    if name == "random":
        return "random"
    if match := re.fullmatch(rf"({'|'.join(NUMBERED)})(?::([0-9]{{1,9}}))?", name):
        make_settings = NUMBERED[match[1]]
        return make_settings(int(match[2])) if match[2] else make_settings()
    if name.startswith(COMMAND_PREFIX):
        return engine_of_command(name)
    if (submission := find_submission(name)) is not None:
        return submission
    if name and (path := network_file(name)) is not None:  # as a path, an empty name is the current folder
        return path
    similar = near_names(name, ["random", *NUMBERED, *packaged_nets()])
    question = f"did you mean {similar[0]}? " if similar else ""
    raise ValueError(
        f"no player is called {name!r}: {question}players are 'random', a network's file, run folder or packaged name, "
        "'uct:PLAYOUTS', 'rave:PLAYOUTS' in Go, 'alphabeta:DEPTH' in other games, 'gnugo:LEVEL', any engine "
        "by its command, as 'gtp:./engine --argument', and a Python file with a function choose(position)"
    )


def read_entrants(
    texts: Sequence[str],
    *,
    board_size: int | None = None,
    readouts: int = 64,
    search: str = PLAYER_RULE,
    game: str | None = None,
    given: Mapping[str, Any] = {},
    device: str = "cpu",
) -> tuple[GameEnv, list[Entrant]]:
    """Return the game of an evaluation, and its entrants.

    Args:
        texts: the entrants' names, as in `parse_entrant`.
        game: the name of the game; None for the game of the networks, or for Go if there are no networks.
        board_size: None for that of the networks, or for the game's default if there are no networks.
        given: further options of the game, which replace those of the networks.  In all other options the networks must
            agree.
        readouts, search: used for networks whose name does not give them.
        device: the device of networks and of the boards of their searches.

    Raises:
        ValueError: for a missing file, an unknown player, a player named twice, or networks whose games differ.
    """
    check_int("readouts", readouts, 0, MOST_READOUTS)
    entries = [parse_entrant(text).with_defaults(readouts, search) for text in texts]
    names = [entry.name for entry in entries]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"{repeated[0]} is named twice")
    env = common_game(entries, board_size, game, given)
    # What `make_entrant` has read, so that each network is loaded once.  The key is the name before the @, and whether
    # the entrant plays at a level.
    players: dict[tuple[str, bool], Entrant] = {}
    return env, [make_entrant(entry, env, device, players) for entry in entries]


def make_entrant(entry: EntrantText, env: GameEnv, device: str, players: dict[tuple[str, bool], Entrant]) -> Entrant:
    """Return the entrant whose name has the parts `entry`.

    Args:
        device: of a network, as in `evaluate`.
        players: a cache of what `read_player` returns, to which this call adds, so that a network is loaded once for
            several readouts.  The key is the name before the @ and whether the entrant plays at a level.
    """
    key = entry.base, entry.level is not None
    if key not in players:
        players[key] = read_player(entry, env, device)
    # `readouts` is None for a player without a network.  Such a player does not use the 0.
    return replace(players[key], readouts=entry.readouts or 0, search=entry.search, name=entry.name, level=entry.level)


def read_player(entry: EntrantText, env: GameEnv, device: str) -> Entrant:
    """Return an entrant that has only the player, its network and its `weights`; `make_entrant` adds the rest."""
    if entry.model is None:
        player = resolve_player(find_player(entry.base), env)
        if isinstance(player, Submission):
            return Entrant(player, weights=hashlib.sha256(player.path.read_bytes()).hexdigest())
        if isinstance(player, Engine):  # its name and version, which `check_engine` returns, stand for its `weights`
            return Entrant(player, weights=check_engine(require_go(env, player.name), player))
        return Entrant(player)
    # The network plays its own saved game, whose input planes may be others, with the board size and komi of `env`.
    komi_setting = {"komi": env.config["komi"]} if "komi" in env.config else {}
    net = load_model(entry.model, with_settings(saved_game(entry.model, env.N), komi_setting))
    evaluator = as_evaluator(net, env, device, forecasts=entry.level is not None)  # levels need forecasts of the score
    return Entrant(evaluator, weights=hashlib.sha256(entry.model.read_bytes()).hexdigest(), network=net)


def common_game(
    entries: Sequence[EntrantText], board_size: int | None, game: str | None, given: Mapping[str, Any]
) -> GameEnv:
    """Return the common game of the networks; without networks, the game called `game`.

    The options `given` replace those of the networks before these are compared.

    Args:
        entries: the parts of the entrants' names.
        board_size, game, given: as in `read_entrants`.

    Raises:
        ValueError: if the games of the networks differ.
    """
    envs = {entry.base: saved_game(entry.model, board_size) for entry in entries if entry.model is not None}
    if not envs:
        # `make_game` takes None as "the default", so an option given as None, as `turns` may be, is set once more.
        return with_settings(make_game(game, board_size, **given), given)
    wanted_game = game or next(iter(envs.values())).name
    for base, env in envs.items():
        if env.name != wanted_game:
            raise ValueError(f"every network must be for {wanted_game}, got {base} for {env.name}")
    envs = {base: with_settings(env, given) for base, env in envs.items()}
    check_same_options(envs)
    return next(iter(envs.values()))


def check_same_options(envs: Mapping[str, GameEnv]) -> None:
    """Raise ValueError if the networks' games differ in an option, except in the input planes; envs: by network."""
    first = next(iter(envs.values()))
    for key in dict.fromkeys([*OPTIONS, *first.config]):  # OPTIONS first, since the user can choose their values
        values = {base: env.config.get(key) for base, env in envs.items()}
        if key != "planes" and len(set(values.values())) > 1:
            listed = ", ".join(f"{value} of {base}" for base, value in values.items())
            option = f"; choose one with {OPTIONS[key]}" if key in OPTIONS else ""
            raise ValueError(f"the networks differ in {key}: {listed}{option}")

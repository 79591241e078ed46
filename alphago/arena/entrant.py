"""Who plays in a match, and how one is named in text: `runs/a@64,gumbel`, `rave:1000`, `gnugo:10`, `random`."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alphago.arena.players import contestant, search_settings
from alphago.env.game import GameEnv
from alphago.env.games import make_game, with_settings
from alphago.env.go_rules import Rules
from alphago.mcts.search import SearchSettings
from alphago.nn.model_files import model_file, saved_game
from alphago.nn.net import load_model
from alphago.system.validation import MOST_READOUTS, check_int, checks_keywords

# What may be chosen for networks that differ.
OPTIONS = {
    "board_size": "--board-size",
    "komi": "--komi",
    "ko": "--rules",
    "suicide": "--rules",
    "turns": "--turns",
}


@checks_keywords()
@dataclass(frozen=True)
class Entrant:
    """One side of a match.

    who: what `seat` takes: an evaluator, an Anchor, a GtpProgram, or "random".
    readouts: simulations per move of an evaluator; 0 plays its policy.
    search: how they choose: "puct", "gumbel" or settings; None is "puct".
    weights: the fingerprint of a network's file, "" for others.
    """

    who: Any
    readouts: int = 0
    search: SearchSettings | str | None = None
    name: str = ""
    weights: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "readouts", check_int("readouts", self.readouts, 0, MOST_READOUTS))
        search_settings(self.search, 1, 1)  # raises for what is none


@dataclass(frozen=True)
class EntrantText:
    """What somebody wrote: a network's file (None for a player without one), its readouts and search."""

    base: str
    model: Path | None
    readouts: int
    search: str

    @property
    def name(self) -> str:
        if self.model is None:
            return self.base
        return f"{self.base}@{self.readouts}" + (",gumbel" if self.search == "gumbel" and self.readouts else "")


def read_text(text: str, readouts: int = 64, search: str = "puct") -> EntrantText:
    """Reads a player's name, `MODEL`, `MODEL@64` or `MODEL@64,gumbel`; ValueError with a sentence for anything else.

    MODEL is a file or a run folder; readouts and search count where the text has none of its own.
    """
    base, at, own = text.rpartition("@") if "@" in text else (text, "", "")
    match = re.fullmatch(r"([0-9]+)?(?:(?:^|,)(puct|gumbel))?", own)
    if at and (match is None or not own) and Path(text).exists():
        base, at = text, ""  # the @ is part of a path
    unknown = "only networks take readouts"
    if not at:
        try:
            contestant(base)
            return EntrantText(base, None, 0, "")
        except ValueError as error:
            unknown = str(error)
    model = model_file(base)
    if not (model.exists() or "/" in base or base.endswith(".safetensors")):
        raise ValueError(f"{text}: there is no file {base}, and {unknown}")
    if not at:
        return EntrantText(base, model, readouts, search)
    if match is None or not own:
        raise ValueError(f"{text}: after @ come readouts, puct or gumbel, or both as in 64,gumbel")
    return EntrantText(base, model, int(match[1]) if match[1] else readouts, match[2] or search)


def read_entrants(
    texts: Sequence[str], *, board_size: int | None = None, komi: float | None = None,
    readouts: int = 64, search: str = "puct", game: str | None = None, rules: Rules | None = None,
    turns: int | None = None, device: str = "cpu",
) -> tuple[GameEnv, list[Entrant]]:  # fmt: skip
    """The game and the players of an evaluation.

    The game is the one that is named, else that of the networks, else Go; with what is given of board, komi, rules and
    fixed turns (0: games that two passes end), else as the networks know it, who have to agree, else as usual.
    device: of networks and their searches' boards.
    ValueError with a sentence for what does not exist or does not go together.
    """
    check_int("readouts", readouts, 0, MOST_READOUTS)
    entries = [read_text(text, readouts, search) for text in texts]
    for name in {entry.name for entry in entries}:
        if sum(entry.name == name for entry in entries) > 1:
            raise ValueError(f"{name} is named twice")
    env = common_game(entries, board_size, komi, game, rules, turns)
    known = {entry.base: contestant(entry.base, env) for entry in entries if entry.model is None}
    loaded: dict[Path, tuple[Any, str]] = {}  # one evaluator per file, whatever the readouts
    for entry in entries:
        if entry.model is not None and entry.model not in loaded:
            net = load_model(entry.model, saved_game(entry.model, env.N, env.config.get("komi")))
            loaded[entry.model] = contestant(net, device=device), hashlib.sha256(entry.model.read_bytes()).hexdigest()
    entrants = []
    for entry in entries:
        who, weights = (known[entry.base], "") if entry.model is None else loaded[entry.model]
        entrants.append(Entrant(who, entry.readouts, entry.search or None, entry.name, weights))
    return env, entrants


def common_game(
    entries: Sequence[EntrantText], board_size: int | None, komi: float | None, game: str | None,
    rules: Rules | None, turns: int | None,
) -> GameEnv:  # fmt: skip
    """The game that all networks are for, with what is given in place of theirs."""
    envs = {entry.base: saved_game(entry.model, board_size, komi) for entry in entries if entry.model is not None}
    if not envs:
        return with_rules(make_game(game, board_size, komi=komi), rules, turns)
    name = game or next(iter(envs.values())).name
    for base, env in envs.items():
        if env.name != name:
            raise ValueError(f"{base} plays {env.name}, wanted a network for {name}")
    envs = {base: with_rules(env, rules, turns) for base, env in envs.items()}
    first = next(iter(envs.values()))
    for what in (*OPTIONS, *first.config):
        if what == "planes" or what not in first.config:  # each network sees the games in its own way
            continue
        values = {base: env.config[what] for base, env in envs.items()}
        if len(set(values.values())) > 1:
            told = ", ".join(f"{value:g} of {base}" if isinstance(value, float) else f"{value} of {base}"
                             for base, value in values.items())  # fmt: skip
            option = f"; choose one with {OPTIONS[what]}" if what in OPTIONS else ""
            raise ValueError(f"the networks differ in {what}: {told}{option}")
    return first


def with_rules(env: GameEnv, rules: Rules | None, turns: int | None) -> GameEnv:
    """The game by the given rules and fixed turns (0: none); ValueError where some are given that it does not have."""
    given: dict[str, Any] = {} if rules is None else rules._asdict()
    given |= {} if turns is None else {"turns": turns or None}
    return with_settings(env, given)

"""Who plays in a match, and how one is named in text: `runs/a@64,gumbel`, `gnugo:10`, `random`."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alphago.arena.players import contestant, search_settings
from alphago.env.go import GoEnv
from alphago.env.go_rules import Rules
from alphago.mcts.search import SearchSettings
from alphago.nn.net import load_model
from alphago.nn.saved import model_file, saved_go


@dataclass(frozen=True)
class Entrant:
    """One side of a match.

    who: what `seat` takes: an evaluator, a GtpProgram, the name of a player without a network.
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
        if isinstance(self.readouts, bool) or not isinstance(self.readouts, int) or self.readouts < 0:
            raise ValueError(f"readouts is 0 or more, came {self.readouts!r}")
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
    match = re.fullmatch(r"([0-9]+)?(?:(?:^|,)(puct|gumbel))?", own)
    if match is None or not own:
        raise ValueError(f"{text}: after @ come readouts, puct or gumbel, or both as in 64,gumbel")
    return EntrantText(base, model, int(match[1]) if match[1] else readouts, match[2] or search)


def read_entrants(
    texts: Sequence[str], *, board_size: int | None = None, komi: float | None = None,
    readouts: int = 64, search: str = "puct", rules: Rules | None = None, turns: int | None = None,
) -> tuple[GoEnv, list[Entrant]]:  # fmt: skip
    """The game and the players of an evaluation.

    The game is Go with the given board, komi, rules and fixed turns (0: games that two passes end), else with those
    of the networks, which have to agree, else 9x9.  ValueError with a sentence for what does not exist or does not
    go together.
    """
    if readouts < 0:
        raise ValueError(f"readouts is 0 or more, came {readouts}")
    entries = [read_text(text, readouts, search) for text in texts]
    for name in {entry.name for entry in entries}:
        if sum(entry.name == name for entry in entries) > 1:
            raise ValueError(f"{name} is named twice")
    env = common_game(entries, board_size, komi, rules, turns)
    loaded: dict[Path, tuple[Any, str]] = {}  # one evaluator per file, whatever the readouts
    for entry in entries:
        if entry.model is not None and entry.model not in loaded:
            net = load_model(entry.model, saved_go(entry.model, env.N, env.komi))
            loaded[entry.model] = contestant(net), hashlib.sha256(entry.model.read_bytes()).hexdigest()
    entrants = []
    for entry in entries:
        who, weights = (contestant(entry.base), "") if entry.model is None else loaded[entry.model]
        entrants.append(Entrant(who, entry.readouts, entry.search or None, entry.name, weights))
    return env, entrants


def common_game(
    entries: Sequence[EntrantText], board_size: int | None, komi: float | None, rules: Rules | None, turns: int | None
) -> GoEnv:
    """The game that all networks are for, with what is given in place of theirs."""
    given: dict[str, Any] = {} if rules is None else rules._asdict()
    given |= {} if turns is None else {"turns": turns or None}
    games = {
        entry.base: saved_go(entry.model, board_size, komi).replace(**given)
        for entry in entries
        if entry.model is not None
    }
    options = {
        "board_size": "--board-size",
        "komi": "--komi",
        "ko": "--rules",
        "suicide": "--rules",
        "turns": "--turns",
    }
    for what, option in options.items():
        values = {base: env.config[what] for base, env in games.items()}
        if len(set(values.values())) > 1:
            told = ", ".join(f"{value:g} of {base}" if isinstance(value, float) else f"{value} of {base}"
                             for base, value in values.items())  # fmt: skip
            raise ValueError(f"the networks differ in {what}: {told}; choose one with {option}")
    if games:
        return next(iter(games.values())).replace(planes=None)
    return GoEnv(9 if board_size is None else board_size, komi=komi, **given)

"""A game of Go as an SGF file holds it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from alphago.env.board import check_player
from alphago.env.game import GameEnv
from alphago.env.games import require_go
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.env.go_rules import Rules, list_points, read_rules, rules_name, why_other_score
from alphago.records.record import GameRecord, record_without_searches
from alphago.records.sgf.faults import Fault
from alphago.records.sgf.grammar import SgfTree
from alphago.records.sgf.notes import MoveNote
from alphago.records.sgf.result_texts import parse_margin, parse_outcome
from alphago.system.validation import shown


class SgfOrigin(NamedTuple):
    """The text from which a game was read.

    Attributes:
        tree: the text's nodes.
        start: the number of the node of the position before the first move.
        line: for each move, the number of its node in the tree.
        game: the game as it was read.
    """

    tree: SgfTree
    start: int
    line: tuple[int, ...]
    game: "SgfGame"


@dataclass(frozen=True)
class SgfGame:
    """One game of Go: its moves, and the properties of its root node.

    Attributes:
        moves: actions, board_size^2 for a pass.
        movers: who played the moves, +1 Black, -1 White; () stands for colours that alternate.  One colour may play
            twice in a row: the turn of the other was skipped, which is no move.
        komi: None if the file names no komi.
        setup: stones and the first player, as in `GoEnv.position` and `GameRecord.setup` (`black`, `white`, `to_play`);
            handicap stones are among them.
        result: as in the file, such as "B+2.5", "W+R", "0" for a draw; "" if unknown.
        players: names of Black and White.
        rules: as in the file; `alphago.env.go_rules.NAMED` lists the names that are understood.
        handicap: the number of handicap stones that the file names; 0 if it names none.
        comment: the comment on the game.
        comments: the comments on moves, by ply.
        faults: what is wrong with the file; `moves` end before the first illegal or unreadable one.
        assumed: the rules that are assumed, if the file names none and `GoEnv`'s default forbids a move; else None.
        ranks: ranks of Black and White, as in the file; `read_rank` converts them to numbers.
        date, event: as in the file.
        notes: by ply, the results of a search of the position before it.
        source: the file's name.
        to_play: who is to move after the last move, +1 or -1, if the file says so (PL); 0 if it does not, so that the
            sides alternate.
        origin: the text from which the game was read, so that unchanged parts can be written as they were; None for a
            new game.
    """

    board_size: int
    moves: tuple[int, ...]
    komi: float | None = None
    setup: Mapping[str, Any] = field(default_factory=dict)
    result: str = ""
    players: tuple[str, str] = ("", "")
    rules: str = ""
    handicap: int = 0
    comment: str = ""
    comments: Mapping[int, str] = field(default_factory=dict)
    movers: tuple[int, ...] = ()
    faults: tuple[Fault, ...] = field(default=(), compare=False)
    assumed: Rules | None = None
    ranks: tuple[str, str] = ("", "")
    date: str = ""
    event: str = ""
    notes: Mapping[int, MoveNote] = field(default_factory=dict)
    source: str = field(default="", compare=False)
    to_play: int = 0
    origin: "SgfOrigin | None" = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.movers:
            colours = (self.first, -self.first) * len(self.moves)
            object.__setattr__(self, "movers", colours[: len(self.moves)])  # the only way in a frozen class

    @property
    def first(self) -> int:
        """The side to move in the beginning: +1 Black, -1 White."""
        return check_player(self.setup.get("to_play", 1))

    @classmethod
    def from_record(cls, record: GameRecord, env: GameEnv, *, values: bool = False, **rest: object) -> "SgfGame":
        """Return a record played in `env` as an SgfGame.

        Args:
            rest: further fields, such as `players`.
            values: whether to keep, as `notes`, the search's value of each position that was searched in full.
        """
        if values:
            black_values = (record.values * record.movers).tolist()
            # The weight is 0 if there was no full search.
            rest["notes"] = {ply: MoveNote(value) for ply, value in enumerate(black_values) if record.weights[ply] > 0}
        fields: dict[str, object] = {
            "movers": tuple(record.movers.tolist()),
            "setup": {name: value for name, value in record.setup.items() if name != "komi"},
            "result": "0" if record.outcome == 0 else record.result_string,
        }
        if "komi" in record.setup:  # in an SgfGame the komi is not in `setup` but a field of its own
            fields["komi"] = record.setup["komi"]
        return cls.in_game(env, tuple(record.moves.tolist()), **{**fields, **rest})

    @classmethod
    def in_game(cls, env: GameEnv, moves: tuple[int, ...], **rest: Any) -> "SgfGame":
        """Return a game with these moves and with the board, komi and rules of `env`, which must be Go.

        Args:
            rest: further fields, such as `players`; they may replace `komi` and `rules` of `env`, and `handicap`, which
                is else counted in `setup`.
        """
        game = require_go(env, "SGF files")
        fields = {"komi": game.komi, "rules": rules_name(game.rules), "handicap": count_handicap(rest.get("setup", {}))}
        return cls(game.N, moves, **{**fields, **rest})

    @property
    def outcome(self) -> float | None:
        """The outcome: +1 Black won, -1 White won, 0 a draw; None if unknown."""
        return parse_outcome(self.result)

    @property
    def margin(self) -> float | None:
        """Black's margin in points; None if unknown, as after a resignation."""
        return parse_margin(self.result)

    @property
    def played_rules(self) -> Rules:
        """The rules of ko and suicide: the file's if it names known ones, else `assumed`, else `GoEnv`'s default."""
        return read_rules(self.rules) or self.assumed or Rules()

    @property
    def scoring_notice(self) -> str:
        """A sentence if the rules in the file do not score by area, as games are scored here; else ""."""
        why = why_other_score(self.rules)
        return f"games are scored by area, and not as the file says: {why}" if why else ""

    def env(self, **options: object) -> GoEnv:
        """Return a GoEnv with the game's board, komi and rules, and a `max_moves` greater than the game's length.

        Args:
            options: keywords of GoEnv, which replace these values.
        """
        cap = max(GoEnv(self.board_size).max_moves, len(self.moves) + 1)
        rules = self.played_rules
        return GoEnv(self.board_size, **{"komi": self.komi, "max_moves": cap, **rules._asdict(), **options})

    def position(self, env: GoEnv | None = None, ply: int | None = None) -> GoPosition:
        """Return the position before move `ply` (None: after the last one), in the game `env` (None: `self.env()`)."""
        env = env or self.env()
        komi = None if self.komi == env.komi else self.komi  # None: that of `env`
        position = env.position(**self.setup, komi=komi).after(self.moves[:ply], self.movers[:ply])
        # `self.to_play` is 0 if the file does not say who moves next: then the sides alternate.
        mover = self.to_play if ply is None or ply >= len(self.moves) else self.movers[ply]
        return position.give_turn(mover) if mover else position

    def count_shared(self, other: "SgfGame") -> int:
        """Return how many first moves, of the same colours, two games have in common."""
        own = zip(self.movers, self.moves, strict=True)
        others = zip(other.movers, other.moves, strict=True)
        # The pairs of equal moves up to the first difference, or to the end of the shorter game.
        shared = takewhile(lambda pair: pair[0] == pair[1], zip(own, others, strict=False))
        return len(list(shared))

    def with_moves(self, other: "SgfGame", **rest: Any) -> "SgfGame":
        """Return this game with the moves of `other`, without comments and notes on moves that differ.

        Args:
            rest: further fields.
        """
        shared = self.count_shared(other)
        comments = {ply: text for ply, text in self.comments.items() if ply < shared}
        notes = {ply: note for ply, note in self.notes.items() if ply <= shared}  # on the position before the ply
        return replace(self, moves=other.moves, movers=other.movers, comments=comments, notes=notes, **rest)

    def to_record(self, env: GoEnv | None = None) -> GameRecord:
        """Return a record to train on: one-hot policies for the moves played, values 0.

        Args:
            env: the game; None for `self.env()`.

        Raises:
            ValueError: if the result is unknown, or a move is illegal in `env`.
        """
        if self.outcome is None:
            raise ValueError(f"result must name the winner or a draw, got {shown(self.result)}")
        last, margin = self.position(env), self.margin
        return record_without_searches(
            last.env,
            np.array(self.moves, np.int32),
            np.array(self.movers, np.int8),
            outcome=self.outcome,
            score=self.outcome if margin is None else margin,
            resigned=margin is None,  # training then ignores the last board
            setup=dict(last.setup),
        )


def count_handicap(setup: Mapping[str, Any]) -> int:
    """Return how many handicap stones a set-up has.

    A handicap is two or more stones of Black and none of White, who moves first.  For other set-ups it is 0.

    Args:
        setup: as in `SgfGame`.
    """
    count = len(list_points(setup.get("black", ())))
    is_handicap = count > 1 and not list_points(setup.get("white", ())) and check_player(setup.get("to_play", 1)) < 0
    return count if is_handicap else 0

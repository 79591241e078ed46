"""Read a line of nodes, from root to leaf, as a game: its properties, and its moves up to the first illegal one."""

import contextlib
import re
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from alphago.env.go import GoEnv
from alphago.env.go_rules import Rules, handicap_points, most_handicap, read_rules
from alphago.records.sgf import faults as kinds
from alphago.records.sgf.faults import Fault
from alphago.records.sgf.following import Followed, PlayedStretch
from alphago.records.sgf.grammar import Node, plain_text
from alphago.records.sgf.notes import read_notes, without_generated
from alphago.records.sgf.sgf_game import SgfGame
from alphago.records.sgf.stretches import KEPT, STONES, Stretch, board_of, stones_of
from alphago.records.sgf.values import RATED_NAME, WRITTEN, read_handicap, read_komi, read_point, read_size
from alphago.system.validation import shown

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # of which the texts of the root have none
SIGNS = {"B": 1, "W": -1}  # the side of each property that is a move
LENIENT = (Rules("simple", False), Rules("simple", True))  # tried if a file names no known rules


def read_line(
    line: Sequence[Node],
    required: GoEnv | None = None,
    *,
    number: int | None = None,
    source: str = "",
    before: tuple[Fault, ...] = (),
) -> SgfGame:
    """Return the game in a line of nodes, with its faults (`SgfGame.faults`); no content of a file raises an exception.

    required: the game to read it as; None for the game that the nodes describe.
    number: number of the game in its file, from 1; None if the file holds only one.
    source: the file's name.
    before: faults of the whole file, such as a missing end.
    """
    return LineReader(line, required, number, source, list(before)).read()


class LineReader:
    """Reads one line of nodes as a game; see `read_line` for the arguments."""

    def __init__(
        self, line: Sequence[Node], required: GoEnv | None, number: int | None, source: str, faults: list[Fault]
    ) -> None:
        self.line = line
        self.required = required
        self.number = number
        self.source = source
        self.faults = faults
        self.head: Node = dict(line[0]) if line else {}
        for node in line[1:4]:  # some programs write root properties into the nodes after the root
            has_move = any(name in node for name in SIGNS)
            if "SZ" in self.head or has_move:
                break
            for name, values in node.items():
                if name not in STONES:
                    self.head.setdefault(name, values)

    def text(self, name: str) -> str:
        """Return the text of a root property, "" if it is missing."""
        values = self.head.get(name)
        return CONTROL.sub("", plain_text(values[0])).strip() if values else ""

    def fault(self, kind: str, text: str, node: int | None = None, move: int | None = None) -> None:
        self.faults.append(Fault(kind, text, self.number, node, move))

    def read(self) -> SgfGame:
        """Read the line up to the first move that no rules allow; without moves if the board is not to be had."""
        if self.text("GM") not in ("1", "", "go", "Go"):
            self.fault(kinds.OTHER_GAME, f"GM must be 1, a game of Go, got {shown(self.text('GM'))}")
            return self.empty(19)
        try:
            size = read_size(self.text("SZ"))
        except ValueError as error:
            self.fault(kinds.BOARD, str(error))
            return self.empty(19)
        if self.required is not None and size != self.required.N:
            self.fault(kinds.BOARD, f"the board must be {self.required.N}x{self.required.N}, got {size}x{size}")
            return self.empty(size)
        komi, handicap = self.komi(), self.handicap()
        rules = read_rules(self.text("RU"))
        board = board_of(size, Rules())  # for points and stones, which are the same under all rules
        best, assumed = self.choose(self.stretches(board, handicap), rules, size)
        followed = best.followed
        setup = self.setup(board, best.stretch)
        if setup is None:
            return self.empty(size)
        notes = read_notes([self.line[0], *(self.line[node] for node in followed.node_of)])
        return SgfGame(
            size,
            followed.plies,
            komi,
            setup,
            result=self.text("RE"),
            rules=self.text("RU"),
            players=(self.text("PB"), self.text("PW")),
            handicap=handicap,
            comment=without_generated(self.text("C")),
            comments=self.comments(followed),
            movers=followed.movers,
            places=tuple(followed.node_of),
            faults=tuple(self.faults),
            assumed=assumed,
            ranks=(self.rank("B"), self.rank("W")),
            date=self.text("DT") or self.text("RD"),
            event=self.text("EV") or self.text("TE"),
            notes=notes,
            source=self.source,
        )

    def empty(self, size: int) -> SgfGame:
        return SgfGame(size, (), faults=tuple(self.faults), source=self.source)

    def komi(self) -> float | None:
        """Return the komi in the property KM, or in KO, where Chinese servers write it."""
        try:
            komi = read_komi(self.text("KM"))
        except ValueError as error:
            self.fault(kinds.KOMI, str(error))
            return None
        if komi is None and self.text("KO"):
            with contextlib.suppress(ValueError):
                return read_komi(self.text("KO"))
        return komi

    def rank(self, side: str) -> str:
        """Return the rank of the player "B" or "W"; without one, a rating in the player's name, as in "Ann (2241)"."""
        rated = RATED_NAME.search(self.text(f"P{side}"))
        return self.text(f"{side}R") or (rated[1] if rated else "")

    def handicap(self) -> int:
        try:
            return read_handicap(self.text("HA"))
        except ValueError as error:
            self.fault(kinds.HANDICAP, str(error))
            return 0

    # --- moves and stones ---

    def stretches(self, env: GoEnv, handicap: int) -> list[Stretch]:
        """Return the plays of the line, divided at each node that sets up stones after the first play.

        Reading stops at a point off the board.  Handicap stones are placed in the first stretch.  In later stretches,
        `stones` has KEPT at each point that the set-up does not change; `choose` replaces KEPT with what is on the
        point when the stretch begins.
        """
        white_begins = self.text("PL").strip().upper().startswith(("W", "2"))
        found = [Stretch(np.zeros(env.N * env.N, np.int8), -1 if white_begins else 1)]
        for number, node in enumerate(self.line):
            try:
                changes = stones_of(env, node)
                if changes is not None:
                    if found[-1].actions:
                        found.append(Stretch(changes, 0, begins=number))
                    else:
                        np.copyto(found[-1].stones, changes, where=changes != KEPT)
                for letter in node:
                    if letter in SIGNS and node[letter]:
                        found[-1].add(SIGNS[letter], read_point(env, node[letter][0]), number)
            except ValueError as error:
                moves = sum(len(stretch.actions) for stretch in found)
                self.fault(kinds.POINT, str(error), number, moves + 1)
                break
        self.report_notation()
        self.give_handicap(env, found, handicap)
        for stretch in found:
            if stretch.colours:  # the moves of the file are surer than PL
                stretch.to_play = stretch.colours[0]
        return found

    def report_notation(self) -> None:
        """Add the fault of points that are written as D4, which read_point reads."""
        end = next((fault.node for fault in self.faults if fault.kind == kinds.POINT), len(self.line))
        for number, node in enumerate(self.line[:end]):
            points = [(name, value) for name in node if name in SIGNS or name in STONES for value in node[name]]
            for name, value in points:
                if WRITTEN.fullmatch(value):
                    got = f"{name}[{value}], which is read as people write it"
                    self.fault(kinds.NOTATION, f"points must be two letters such as dp, got {got}", number)
                    return

    def give_handicap(self, env: GoEnv, stretches: list[Stretch], handicap: int) -> None:
        """Place the handicap stones if the file only names their number (HA) and White makes the first move.

        They are not placed where the first moves play on their points: the file then has them as moves.
        """
        first = stretches[0]
        if 2 <= handicap <= most_handicap(env.N) and not first.stones.any() and first.colours[:1] == [-1]:
            points = handicap_points(env.N, handicap)
            if not set(points) & set(first.actions[: 2 * handicap]):
                first.stones[points] = 1

    def choose(self, stretches: list[Stretch], rules: Rules | None, size: int) -> tuple[PlayedStretch, Rules | None]:
        """Return the stretches to read as the game, and the rules if they had to be assumed (`SgfGame.assumed`).

        If a set-up between moves changes something, what comes before and after it counts as a game of its own, and the
        longest is chosen; of equally long ones the first.

        rules: the rules that the file names.  None if it names none: the default rules are used; if they forbid a
            repetition or suicide, those of `LENIENT` that allow the most plies, if more, are assumed.
        size: the board's size.  If `self.required` is set, it is used instead of `rules` and `size`.
        """
        tried = (Rules(), *LENIENT) if rules is None else (rules,)
        games: list[Callable[[int], GoEnv]] = [partial(board_of, size, one) for one in tried]
        if (required := self.required) is not None:
            games = [lambda plays: required]
        best = run = PlayedStretch(stretches[0], games, self.number)
        change: tuple[Stretch, int] | None = None  # the first set-up that changes something, and the moves before it
        for stretch in stretches[1:]:
            if run.followed.fault is not None:
                break
            board = run.followed.board()
            stretch.stones = np.where(stretch.stones == KEPT, board, stretch.stones).astype(np.int8)
            if np.array_equal(stretch.stones, board):
                run.join(stretch)
            else:
                if stretch.actions and change is None:
                    change = stretch, len(run)
                run = PlayedStretch(stretch, games, self.number)
            best = run if len(run) > len(best) else best
        if change is not None:
            is_after = best.stretch.begins >= change[0].begins
            self.report(*change, "from there" if is_after else "up to there")
        if best.followed.fault is not None:
            self.faults.append(best.followed.fault)
        assumed = tried[best.level] if best.level else None  # level 0: the usual rules, or those that are given
        return best, assumed

    def report(self, stretch: Stretch, move: int, part: str) -> None:
        """Add the fault of the first set-up that changes something.

        stretch: what follows it.  move: the number of moves before it.  part: what is read as the game.
        """
        text = f"stones must be set up before the first move, got a set-up after move {move}: the game is read {part}"
        self.fault(kinds.SET_UP, text, stretch.begins, move)

    def setup(self, env: GoEnv, stretch: Stretch) -> dict[str, object] | None:
        """Return a stretch's stones and first player as keywords of `GoEnv.position`; None for an illegal board."""
        black, white = (np.flatnonzero(stretch.stones == sign).tolist() for sign in (1, -1))
        try:
            mover = stretch.to_play if stretch.to_play < 0 else None
            return dict(env.position(black, white, to_play=mover).setup)
        except ValueError as error:
            if not any(fault.kind == kinds.DEAD for fault in self.faults):
                self.fault(kinds.DEAD, str(error))
            return None

    def comments(self, followed: Followed) -> dict[int, str]:
        """Return the comments on moves, by ply, without the root's comment, which is on the whole game."""
        found = {}
        for ply, node in enumerate(followed.node_of):
            values = self.line[node].get("C")
            if values and node and (text := without_generated(plain_text(values[0]).strip())):
                found[ply] = text
        return found

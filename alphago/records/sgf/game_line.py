"""Read a line of nodes, from root to leaf, as a game: its properties, and its moves up to the first illegal one."""

import contextlib
import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from alphago.env.go import GoEnv
from alphago.env.go_rules import Rules, handicap_points, most_handicap, read_rules
from alphago.records.sgf import faults as kinds
from alphago.records.sgf.faults import Fault
from alphago.records.sgf.grammar import Node, plain_text
from alphago.records.sgf.notes import read_notes, without_generated
from alphago.records.sgf.sgf_game import SgfGame
from alphago.records.sgf.stretches import KEPT, STONES, PlayedStretch, Stretch, make_board, play_by_rules, setup_stones
from alphago.records.sgf.values import D4_NOTATION, RATED_NAME, read_handicap, read_komi, read_point, read_size
from alphago.system.validation import shown

GO = ("1", "01", "", "go", "igo", "weiqi", "baduk")  # values of GM, in small letters, that mean Go
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # characters that are removed from the texts of the root
SIGNS = {"B": 1, "W": -1}  # the side of each property that is a move
# Properties of a whole game, which SGF allows in any node of its line.
GAME_INFO = frozenset(["AP", "BR", "DT", "EV", "GM", "HA", "KM", "KO", "PB", "PW", "RD", "RE", "RU", "TE", "WR"])
UNKNOWN_SIZE = 19  # the size of a game without moves whose board is unknown
# The rules of ko and suicide that are tried, in this order, if a file names no known ones.
RULES_TO_TRY = (Rules(), Rules("simple", False), Rules("simple", True))


class LineReader:
    """Reads one line of nodes, from root to leaf, as a game, with its faults (`SgfGame.faults`).

    No content of the nodes raises an exception.

    Args:
        required_game: the game with whose board and rules the line is read; None for those that the nodes name.

    Attributes:
        head: the properties of the whole game, most of which are in the root.
        faults: the faults of the line that were found so far.
        move_nodes: for each move of the game that was read, the number of its node in the line.
    """

    def __init__(self, line: Sequence[Node], required_game: GoEnv | None = None) -> None:
        self.line = line
        self.required_game = required_game
        self.faults: list[Fault] = []
        self.move_nodes: list[int] = []
        self.head: Node = dict(line[0]) if line else {}
        for node in line[1:4]:  # some programs write root properties into one of the three nodes after the root
            if "SZ" in self.head or has_move(node):  # the head is complete, or the moves have begun
                break
            # Without stones: the board is set up from the nodes themselves (`stretches`).
            self.head = {name: values for name, values in node.items() if name not in STONES} | self.head
        for node in line[1:]:
            for name in GAME_INFO.intersection(node):
                if not self.text(name):
                    self.head[name] = node[name]

    def text(self, name: str) -> str:
        """Return the text of a property of the whole game (`head`), "" if it is missing."""
        values = self.head.get(name)
        return CONTROL.sub("", plain_text(values[0])).strip() if values else ""

    def add_fault(self, kind: str, text: str, node: int | None = None, move: int | None = None) -> None:
        """Add a fault of the line; the arguments are the fields of `Fault`."""
        self.faults.append(Fault(kind, text, node=node, move=move))

    def read(self) -> SgfGame:
        """Return the game up to the first move that no rules allow.

        If the line is no game of Go, or its board cannot be used, the game that is returned has no moves.
        """
        if self.text("GM").lower() not in GO:
            self.add_fault(kinds.OTHER_GAME, f"GM must be 1, a game of Go, got {shown(self.text('GM'))}")
            return self.empty_game(UNKNOWN_SIZE)
        try:
            size = self.board_size()
        except ValueError as error:
            self.add_fault(kinds.BOARD, str(error))
            return self.empty_game(UNKNOWN_SIZE)
        komi, handicap = self.komi(), self.handicap()
        rules = read_rules(self.text("RU"))
        board = make_board(size, Rules())  # to read points and stones, which do not depend on the rules
        # The game is the longest stretch of the line without a set-up in between.
        stretches = self.stretches(board, handicap)
        longest, assumed_rules = self.find_game(stretches, rules, size)
        legal = longest.legal_part()
        self.move_nodes = legal.nodes
        if longest.fault is not None and longest.fault.kind == kinds.DEAD:
            return self.empty_game(size)  # the set-up has stones without a liberty: no board to play on
        return SgfGame(
            size,
            tuple(legal.actions),
            komi=komi,
            setup=start_of(board, legal),
            result=self.text("RE"),
            rules=self.text("RU"),
            players=(self.text("PB"), self.text("PW")),
            handicap=handicap,
            comment=without_generated(self.text("C")),
            comments=self.comments(),
            movers=tuple(legal.colours),
            to_play=self.player_after(stretches) if self.move_nodes and longest.fault is None else 0,
            faults=tuple(self.faults),
            assumed=assumed_rules,
            ranks=(self.rank("B"), self.rank("W")),
            date=self.text("DT") or self.text("RD"),  # Chinese servers write RD and TE for DT and EV
            event=self.text("EV") or self.text("TE"),
            notes=read_notes([self.line[0], *(self.line[node] for node in self.move_nodes)]),
        )

    def board_size(self) -> int:
        """Return the size of the board.

        Raises:
            ValueError: for a board that is not square or not flat, or that is not of the required size.
        """
        size = read_size(self.text("SZ"))
        if self.required_game is not None and size != self.required_game.N:
            raise ValueError(f"the board must be {self.required_game.N}x{self.required_game.N}, got {size}x{size}")
        if self.text("TO") not in ("", "0"):  # topology: edges are joined, as on a torus
            raise ValueError(f"the board must be a flat one, got TO[{self.text('TO')}]")
        return size

    def empty_game(self, size: int) -> SgfGame:
        """Return a game without moves, with the faults found so far."""
        return SgfGame(size, (), faults=tuple(self.faults))

    def komi(self) -> float | None:
        """Return the komi, None if it is unknown, from the property KM, or else KO, where Chinese servers write it."""
        try:
            komi = read_komi(self.text("KM"), self.text("AP"))
        except ValueError as error:
            self.add_fault(kinds.KOMI, str(error))
            return None
        if komi is None and self.text("KO"):
            with contextlib.suppress(ValueError):
                return read_komi(self.text("KO"))
        return komi

    def rank(self, side: str) -> str:
        """Return the rank of the player "B" or "W", or else the rating in the player's name, as in "Ann (2241)"."""
        rated = RATED_NAME.search(self.text(f"P{side}"))
        return self.text(f"{side}R") or (rated[1] if rated else "")

    def handicap(self) -> int:
        """Return the number of handicap stones that HA names; 0, and a fault, if it cannot be read."""
        try:
            return read_handicap(self.text("HA"))
        except ValueError as error:
            self.add_fault(kinds.HANDICAP, str(error))
            return 0

    def player_to_move(self, begin: int, end: int) -> int:
        """Return who is to move by the last PL in the nodes begin .. end - 1: +1 Black, -1 White, 0 without PL."""
        values = next((node["PL"] for node in reversed(self.line[begin:end]) if node.get("PL")), None)
        if values is None:
            return 0
        is_white = plain_text(values[0]).strip().upper().startswith(("W", "2"))  # some programs write 2 for White
        return -1 if is_white else 1

    def first_player(self) -> int:
        """Return who begins, by the last PL up to the node of the first move: +1 Black, also without PL, -1 White."""
        with_moves = (number for number, node in enumerate(self.line) if has_move(node))
        node_of_first_move = next(with_moves, len(self.line) - 1)  # in a line without moves, the last node
        return self.player_to_move(0, node_of_first_move + 1) or 1

    def player_after(self, stretches: list[Stretch]) -> int:
        """Return who is to move after the last move, by a PL between it and the next set-up; 0 without such a PL."""
        begin = self.move_nodes[-1] + 1
        end = next((stretch.begins for stretch in stretches if stretch.begins >= begin), len(self.line))
        return self.player_to_move(begin, end)

    # --- moves and stones ---

    def stretches(self, env: GoEnv, handicap: int) -> list[Stretch]:
        """Return the plays of the line, divided at each node that sets up stones after the first play.

        Reading stops at a point off the board.  Handicap stones are placed in the first stretch.  In later stretches
        `stones` has what the set-up changes, and KEPT at all other points, since the board before is not known yet.

        Args:
            env: a game on the board, to read points.
            handicap: the number of handicap stones that the file names.
        """
        stretches = [Stretch(np.zeros(env.N * env.N, np.int8), to_play=self.first_player())]
        for number, node in enumerate(self.line):
            try:
                changes = setup_stones(env, node)
                if changes is not None:
                    if stretches[-1].actions:
                        stretches.append(Stretch(changes, to_play=0, begins=number))  # 0: unknown before a play
                    else:
                        np.copyto(stretches[-1].stones, changes, where=changes != KEPT)
                for letter in node:
                    if letter in SIGNS and node[letter]:
                        stretches[-1].add(SIGNS[letter], read_point(env, node[letter][0]), number)
            except ValueError as error:
                moves = sum(len(stretch.actions) for stretch in stretches)
                self.add_fault(kinds.POINT, str(error), node=number, move=moves + 1)
                break
        self.report_notation()
        self.give_handicap(env, stretches, handicap)
        for stretch in stretches:
            if stretch.colours:  # the colour of the first play is more reliable than PL
                stretch.to_play = stretch.colours[0]
        return stretches

    def report_notation(self) -> None:
        """Add a fault for the first point that is written as people write it, such as D4; `read_point` can read it."""
        # `stretches` stops at the first node with an unreadable point: this node and later ones are left out here too.
        end = next((fault.node for fault in self.faults if fault.kind == kinds.POINT), len(self.line))
        for number, node in enumerate(self.line[:end]):
            names = [name for name in node if name in SIGNS or name in STONES]
            found = [f"{name}[{value}]" for name in names for value in node[name] if D4_NOTATION.fullmatch(value)]
            if found:
                got = f"{found[0]}, which is read as people write it"
                self.add_fault(kinds.NOTATION, f"points must be two letters such as dp, got {got}", node=number)
                return

    def give_handicap(self, env: GoEnv, stretches: list[Stretch], handicap: int) -> None:
        """Place the handicap stones if the file has only their number (HA), and White makes the first move.

        In some files the handicap stones are Black's first moves, each after a pass of White: pass, stone, pass, stone.
        So no stones are placed if one of the first moves is on a handicap point.

        Args:
            stretches: those of the line; `stones` of the first one is overwritten.
            handicap: the number of stones that the file names.
        """
        first = stretches[0]
        is_possible = 2 <= handicap <= most_handicap(env.N)
        white_begins = first.colours[:1] == [-1]
        if not is_possible or not white_begins or first.stones.any():
            return
        points = handicap_points(env.N, handicap)
        opening = first.actions[: 2 * handicap]  # the first `handicap` moves of each side
        if not set(points) & set(opening):
            first.stones[points] = 1

    def find_game(self, stretches: list[Stretch], rules: Rules | None, size: int) -> tuple[PlayedStretch, Rules | None]:
        """Return the part of the line to read as the game, and the rules if they had to be assumed (`SgfGame.assumed`).

        A set-up between moves that changes the board divides the line: the moves before it are one game, the moves
        after it another.  The longest of these games is chosen, and the first of equally long ones.  One of the set-ups
        is reported as a fault (`report_set_up`), and so is the first illegal move of the game.

        Args:
            rules: the rules that the file names.  None if it names none; then RULES_TO_TRY are tried (`play_by_rules`).
            size: the board's size.  If there is a `required_game`, its rules and size are used instead.
        """
        tried = RULES_TO_TRY if rules is None else (rules,)
        played_stretches, longest, assumed = play_by_rules(stretches, tried, size, self.required_game)
        self.report_set_up(played_stretches, longest, last_set_up=stretches[-1].begins)
        if longest.fault is not None:
            self.faults.append(longest.fault)
        return longest, assumed

    def report_set_up(self, played_stretches: list[PlayedStretch], longest: PlayedStretch, last_set_up: int) -> None:
        """Add a fault for the first set-up that changes the board and has moves after it.

        Without one, a change by the last set-up of the line is reported as FINAL_SET_UP: it often shows how the game
        was counted.

        Args:
            played_stretches: the stretches as they were played; each but the first begins with a change of the board.
            longest: the stretch that is the game.
            last_set_up: the number of the node of the last set-up.
        """
        # The stretches after a change, each with the number of moves in the stretch before it.
        changes = [(after.stretch, before.ply_count) for before, after in pairwise(played_stretches)]
        with_moves = [(changed, move) for changed, move in changes if changed.actions]
        final = [(changed, move) for changed, move in changes if changed.begins == last_set_up]
        for changed, move in (with_moves or final)[:1]:
            part = "after" if longest.stretch.begins >= changed.begins else "before"
            got = f"a set-up after move {move}: the game is what comes {part} it"
            text = f"stones must be set up before the first move, got {got}"
            self.add_fault(kinds.SET_UP if with_moves else kinds.FINAL_SET_UP, text, node=changed.begins, move=move)

    def comments(self) -> dict[int, str]:
        """Return the comments on moves, by ply; the comment in the root is left out, since it is about the game."""
        raw = {ply: self.line[node].get("C") for ply, node in enumerate(self.move_nodes) if node != 0}
        texts = {ply: without_generated(plain_text(values[0]).strip()) for ply, values in raw.items() if values}
        return {ply: text for ply, text in texts.items() if text}


def has_move(node: Node) -> bool:
    """Return whether a node has a move of either side."""
    return not SIGNS.keys().isdisjoint(node)


def start_of(env: GoEnv, stretch: Stretch) -> dict[str, object]:
    """Return the beginning of a stretch, its stones and first player, as keywords of `GoEnv.position`."""
    black, white = (np.flatnonzero(stretch.stones == colour).tolist() for colour in (1, -1))
    mover = stretch.to_play if stretch.to_play < 0 else None  # None: Black, which needs no keyword
    return dict(env.position(black, white, to_play=mover).setup)

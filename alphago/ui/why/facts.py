"""The facts of an explanation: each is data, and says itself in a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Generic, NamedTuple, TypeGuard, TypeVar

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.go_position import GoPosition, is_go_position
from alphago.env.position import Position
from alphago.mcts.analysis_result import Analysis

P = TypeVar("P", bound=Position)

# Points and win rates are those that searches estimate.  A much stronger program nearly always agrees with what these
# limits admit.
MISTAKE = 3.0  # least points of a mistake: it nearly always finds a loss too
MISTAKE_RATE = 0.1  # and the least win rate that is lost by one that loses fewer points
SURE_PART = 0.5  # part of them that is sure: it nearly always finds so much too, and more in fights
CLEAR = 0.9  # least part of the visits of a move beside which the search hardly looked at another one
SURE = 0.25  # a chain whose chance to survive is less is expected to die, one with more than 1 - SURE to live
FORESEEN = 5  # plies of a line that a sentence names, as many as a ladder has at least: later ones were hardly searched


class NamedChain(NamedTuple):
    """A chain of stones.

    Attributes:
        colour: +1 Black, -1 White.
        point: one of its points.
        stones: its number of stones.
    """

    colour: int
    point: int
    stones: int


class Phrasing:
    """Names of sides, moves and chains in sentences about a game.

    Args:
        mover: the side whose move is explained, +1 or -1; moves of the other side are named as its own.  0 for no side.
    """

    def __init__(self, env: GameEnv, mover: int = 0) -> None:
        self.move, self.mover = env.to_text, mover
        self.side = env.board_view.side
        self.passing = env.pass_action

    def choice(self, action: int) -> str:
        """Return the name of a move that is compared with another one: "passing" for a pass."""
        return "passing" if action == self.passing else self.move(action)

    def played(self, fact: "Fact") -> str:
        """Return the name of a fact's move, such as "D4", or "White's D4" if Black's move is explained."""
        whose = f"{self.side(fact.colour)}'s " if fact.colour == -self.mover else ""
        return whose + self.move(fact.action)

    def chain(self, chain: NamedChain) -> str:
        """Return a text such as "Black's 3 stones at D4"."""
        return f"{self.side(chain.colour)}'s {self.stones(chain)}"

    def stones(self, chain: NamedChain) -> str:
        """Return a text such as "3 stones at D4"."""
        count = "stone" if chain.stones == 1 else f"{chain.stones} stones"
        return f"{count} at {self.move(chain.point)}"

    def chains(self, chains: Sequence[NamedChain]) -> str:
        """Return the names of chains of one side, such as "Black's stone at C6 and the 2 stones at E6"."""
        first, *others = chains
        *names, last = [self.chain(first), *(f"the {self.stones(chain)}" for chain in others)]
        return f"{', '.join(names)} and {last}" if names else last

    def line(self, line: Sequence[int]) -> str:
        """Return the first moves of a line as text; "…" stands for two plies or more."""
        shown = " ".join(map(self.move, line[:FORESEEN]))
        return f"{shown} …" if len(line) > FORESEEN + 1 else " ".join(map(self.move, line))


@dataclass(frozen=True)
class Fact:
    """A fact about a move.

    Attributes:
        colour: who plays the move, +1 Black, -1 White.
        action: the move.  best, in facts that have it: the best move.
    """

    colour: int
    action: int

    def sentence(self, words: Phrasing) -> str:
        """Return the fact as a sentence; an empty text if it is not sure enough to be told."""
        raise NotImplementedError


@dataclass(frozen=True)
class Loss(Fact):
    """What a move loses against the best move.

    Attributes:
        points, rate: what it loses, in points (NaN if unknown) and win rate (0 .. 1); negative if it gains.  If there
            was a deeper search, the smaller one of both figures.
        share: the best move's part of the visits.
        line: the line that the best move begins; not in Go, where such lines seldom show why a move is better.
        ends: whether the best move is a pass that ends the game, so that dead stones count as alive.
        least: the points from which on a move counts as a mistake.
    """

    best: int
    points: float
    rate: float
    share: float
    line: tuple[int, ...] = ()
    ends: bool = False
    least: float = MISTAKE

    @property
    def worse(self) -> bool:
        """Whether the move is a mistake: it loses so many points, or that much of winning."""
        # The least loss of win rate grows with the least points; NaN points are no mistake.
        is_mistake = self.points >= self.least or self.rate >= self.least / MISTAKE * MISTAKE_RATE
        return self.action != self.best and not self.ends and is_mistake

    @property
    def praised(self) -> bool:
        """Whether the search is so sure of the move that something may be said in its favour."""
        return self.action == self.best and self.share >= CLEAR

    def sentence(self, words: Phrasing) -> str:
        move = words.choice(self.action)
        if not self.worse:
            return f"The search finds no better move than {move}." if self.praised else ""
        points = 0 if isnan(self.points) else int(SURE_PART * self.points)  # the part that is sure, rounded down
        percent = 5 * int(20 * SURE_PART * self.rate)  # in steps of 5 %
        sizes = [f"{points} point{'s' * (points > 1)}"] * (points > 0) + [f"{percent}% of winning"] * (percent > 0)
        size = f"loses at least {' and '.join(sizes)}" if sizes else "seems a mistake"
        better = f"better is {words.line(self.line)}" if self.line else f"{words.choice(self.best)} is better"
        return f"{move} {size}; {better}."


@dataclass(frozen=True)
class Reply(Fact):
    """The line that follows a move; in Go only its first move.

    Attributes:
        mover: who plays the first move of the line: the other side, or in some games the move's side again.
        is_key: whether the line begins on the point of the best move.
    """

    line: tuple[int, ...]
    mover: int
    is_key: bool = False

    def sentence(self, words: Phrasing) -> str:
        side, line = words.side(self.mover), words.line(self.line)
        if self.mover == self.colour:
            return f"{side} goes on with {line}."
        if self.is_key:
            return f"{words.move(self.line[0])} is vital for both sides: {side} would play there next."
        return f"{side} answers {words.move(self.action)} with {line}."


@dataclass(frozen=True)
class SaferChain(Fact):
    """A chain of the move's side that is expected to live after the best move, and not after the played one.

    Attributes:
        best_share, share: the chain's chance to survive after the best move and after the played move, 0 .. 1: the part
            of its points that is expected to stay its own side's.
    """

    best: int
    chain: NamedChain
    best_share: float
    share: float

    @property
    def decides(self) -> bool:
        """Whether the chain is expected to die after the played move."""
        return self.share < SURE

    def sentence(self, words: Phrasing) -> str:
        chain, move, best = words.chain(self.chain), words.move(self.action), words.move(self.best)
        die, be = ("dies", "is") if self.chain.stones == 1 else ("die", "are")
        if self.decides:
            return f"{chain} {die} after {move}, and would live after {best}."
        return f"{chain} {be} safer after {best} than after {move}."


@dataclass(frozen=True)
class Captures(Fact):
    """The move captures chains of the other side; ko: whether ko forbids the other side to retake at once."""

    chains: tuple[NamedChain, ...]
    ko: bool = False

    def sentence(self, words: Phrasing) -> str:
        in_ko = " in ko" if self.ko else ""
        return f"{words.played(self)} captures {words.chains(self.chains)}{in_ko}."


@dataclass(frozen=True)
class Atari(Fact):
    """The move gives atari to a chain of the other side.

    Attributes:
        last: the last liberty of the chain.
        line: the moves that catch the chain; () if it can escape.
    """

    chain: NamedChain
    last: int
    line: tuple[int, ...]

    def sentence(self, words: Phrasing) -> str:
        move, chain = words.played(self), words.chain(self.chain)
        pronoun = "it" if self.chain.stones == 1 else "they"
        return f"{move} puts {chain} in atari" + (f", and {pronoun} cannot escape." if self.line else ".")


@dataclass(frozen=True)
class Capturable(Fact):
    """After the move the other side can take a chain of the move's side, but not after the best move.

    Attributes:
        line: the moves that take the chain.  The other side begins; each of its moves but the last gives atari.
    """

    best: int
    chain: NamedChain
    line: tuple[int, ...]

    def sentence(self, words: Phrasing) -> str:
        when, chain = f"After {words.move(self.action)} {words.side(-self.colour)}", words.chain(self.chain)
        prevented = f"; {words.move(self.best)} would prevent it"
        if len(self.line) == 1:
            return f"{when} can capture {chain} with {words.move(self.line[0])}{prevented}."
        is_given_up = self.line[-2] == words.passing  # the chain's side passes instead of the last defence
        has_repeats = len(set(self.line)) < len(self.line)  # stones are taken in between, as in no ladder
        how = " in a ladder" if len(self.line) >= FORESEEN and not has_repeats else ""
        line = self.line[:-2] if is_given_up else self.line
        return f"{when} can catch {chain}{how} with {words.line(line)}{prevented}."


# --- what facts are read from ----------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """The analysis of position i of several, in Black's view."""

    analysis: Analysis
    i: int

    @property
    def value(self) -> float:
        return float(self.analysis.value[self.i])

    @property
    def score(self) -> float:
        return float(self.analysis.root_score[self.i])

    @property
    def ownership(self) -> np.ndarray | None:
        return None if self.analysis.ownership is None else self.analysis.ownership[self.i]

    def part_of(self, action: int) -> float:
        """Return a move's part of the visits."""
        visits = self.analysis.visits[self.i]
        return float(visits[action] / max(visits.sum(), 1))

    @property
    def is_clear(self) -> bool:
        """Whether the best move has nearly all of the visits."""
        return self.part_of(self.analysis.best(self.i)) >= CLEAR

    @property
    def line(self) -> tuple[int, ...]:
        """The expected moves; () if the game is over."""
        is_over = len(self.analysis.order(self.i)) == 0
        return () if is_over else self.analysis.move(self.i, self.analysis.best(self.i), order=0).line


@dataclass(frozen=True)
class Candidate(Generic[P]):
    """A move, the best move, and the positions before and after them."""

    position: P
    action: int
    best: int
    after: P
    after_best: P

    @property
    def mover(self) -> int:
        """Who plays both moves, +1 or -1."""
        return self.position.to_play


@dataclass(frozen=True)
class Searched:
    """What searches found before the move, after it, and after the best move."""

    before: Row
    after: Row
    after_best: Row


def is_go(tried: Candidate[Position]) -> TypeGuard[Candidate[GoPosition]]:
    """Return whether a move is one of Go."""
    return is_go_position(tried.position)

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

# Points and win rates are those that searches estimate.  The limits are such that a much stronger program nearly always
# agrees with what is said.
MISTAKE = 3.0  # least points that a mistake loses: the stronger program nearly always finds a loss too
MISTAKE_RATE = 0.1  # least win rate that a mistake loses if it loses fewer points
SURE_PART = 0.5  # a sentence names this part of a loss: the stronger program nearly always finds so much too
CLEAR_SHARE = 0.9  # least part of the visits for a clear move, beside which the search hardly looked at another one
DOOMED = 0.25  # a chain with a smaller chance to survive is expected to die
SAFE = 0.75  # a chain with a greater chance to survive is expected to live
# Plies of a line that a sentence names, since later ones were hardly searched.  A ladder has at least so many.
FORESEEN_PLIES = 5


class NamedChain(NamedTuple):
    """A chain of stones.

    Attributes:
        colour: +1 Black, -1 White.
        point: one of its points.
        stone_count: its number of stones.
    """

    colour: int
    point: int
    stone_count: int


class Phrasing:
    """Names of sides, moves and chains in sentences about a game.

    Args:
        mover: the side whose move is explained, +1 or -1; moves of the other side get its name, as in "White's D4".  0
            if no move gets a name.
    """

    def __init__(self, env: GameEnv, mover: int = 0) -> None:
        self.move, self.mover = env.to_text, mover
        self.side = env.board_view.side
        self.passing = env.pass_action

    def choice(self, action: int) -> str:
        """Return the name of a move in a comparison such as "C3 is better", where a pass is called "passing"."""
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
        count = "stone" if chain.stone_count == 1 else f"{chain.stone_count} stones"
        return f"{count} at {self.move(chain.point)}"

    def chains(self, chains: Sequence[NamedChain]) -> str:
        """Return the names of chains of one side, such as "Black's stone at C6 and the 2 stones at E6"."""
        first, *others = chains
        *names, last = [self.chain(first), *(f"the {self.stones(chain)}" for chain in others)]
        return f"{', '.join(names)} and {last}" if names else last

    def line(self, line: Sequence[int]) -> str:
        """Return a line as text, shortened to FORESEEN_PLIES and "…" if that leaves out two moves or more."""
        shown = " ".join(map(self.move, line[:FORESEEN_PLIES]))
        return f"{shown} …" if len(line) > FORESEEN_PLIES + 1 else " ".join(map(self.move, line))


@dataclass(frozen=True)
class Fact:
    """A fact about a move.

    Attributes:
        colour: who plays the move, +1 Black, -1 White.
        action: the move.
        best (in some facts): the best move.
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
            were two searches, each is the smaller loss of the two.
        share: the best move's part of the visits.
        line: the line that the best move begins; () in Go, where such lines seldom show why a move is better.
        best_ends_game: whether the best move is a pass that ends the game.  Dead stones then count as alive, so that
            the loss is not reliable.
        least: the least points that a mistake loses.
    """

    best: int
    points: float
    rate: float
    share: float
    line: tuple[int, ...] = ()
    best_ends_game: bool = False
    least: float = MISTAKE

    @property
    def is_mistake(self) -> bool:
        """Whether the move is a mistake: it loses at least `least` points, or a win rate in proportion to `least`."""
        least_rate = MISTAKE_RATE * (self.least / MISTAKE)  # MISTAKE points count as much as MISTAKE_RATE
        loses_much = self.points >= self.least or self.rate >= least_rate  # a comparison with NaN points is False
        return self.action != self.best and not self.best_ends_game and loses_much

    @property
    def is_surely_best(self) -> bool:
        """Whether the move is the best one, and has so many of the visits that sentences may praise it."""
        return self.action == self.best and self.share >= CLEAR_SHARE

    def sentence(self, words: Phrasing) -> str:
        move = words.choice(self.action)
        if not self.is_mistake:
            return f"The search finds no better move than {move}." if self.is_surely_best else ""
        points = 0 if isnan(self.points) else int(SURE_PART * self.points)  # the part that is sure, rounded down
        percent = 5 * int(20 * SURE_PART * self.rate)  # rounded down to a multiple of 5
        point_text = f"{points} point{'s' if points > 1 else ''}" if points > 0 else ""
        rate_text = f"{percent}% of winning" if percent > 0 else ""
        lost = " and ".join(filter(None, (point_text, rate_text)))
        size = f"loses at least {lost}" if lost else "seems a mistake"
        better = f"better is {words.line(self.line)}" if self.line else f"{words.choice(self.best)} is better"
        return f"{move} {size}; {better}."


@dataclass(frozen=True)
class Reply(Fact):
    """The line that follows a move; in Go only its first move.

    Attributes:
        mover: who plays the first move of the line: the other side, or in some games the move's side again.
        is_key: whether the line begins on the point of the best move, which is then vital for both sides.
    """

    line: tuple[int, ...]
    mover: int
    is_key: bool = False

    def sentence(self, words: Phrasing) -> str:
        side, line = words.side(self.mover), words.line(self.line)
        if self.mover == self.colour:  # the side that made the move plays again
            return f"{side} goes on with {line}."
        if self.is_key:
            return f"{words.move(self.line[0])} is vital for both sides: {side} would play there next."
        return f"{side} answers {words.move(self.action)} with {line}."


@dataclass(frozen=True)
class SaferChain(Fact):
    """A chain of the move's side that is expected to live after the best move, and not after the played one.

    Attributes:
        best_share, share: the chain's chance to survive, 0 .. 1, after the best move and after the played move.  It is
            the part of the chain's points that its side is expected to own in the end.
    """

    best: int
    chain: NamedChain
    best_share: float
    share: float

    def sentence(self, words: Phrasing) -> str:
        chain, move, best = words.chain(self.chain), words.move(self.action), words.move(self.best)
        die, be = ("dies", "is") if self.chain.stone_count == 1 else ("die", "are")
        if self.share < DOOMED:  # `share`: the chance of the chain to survive
            return f"{chain} {die} after {move}, and would live after {best}."
        return f"{chain} {be} safer after {best} than after {move}."


@dataclass(frozen=True)
class Captures(Fact):
    """The move captures chains of the other side.

    Attributes:
        ko: whether ko forbids the other side to retake at once.
    """

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
        pronoun = "it" if self.chain.stone_count == 1 else "they"
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
        # If the last defence is a pass, the sentence's line ends before the pass, without the capture that follows.
        told_line = self.line[:-2] if self.line[-2] == words.passing else self.line
        # A short chase is not called a ladder, nor one with a point played twice: there stones are taken on the way.
        is_ladder = len(self.line) >= FORESEEN_PLIES and len(set(self.line)) == len(self.line)
        how = " in a ladder" if is_ladder else ""
        return f"{when} can catch {chain}{how} with {words.line(told_line)}{prevented}."


# --- what facts are read from ----------------------------------------------------------------------


class AnalysisRow(NamedTuple):
    """One of the positions of an analysis, position `i`; values and scores are in the analysis's view, here Black's."""

    analysis: Analysis
    i: int

    @property
    def value(self) -> float:
        """Black's value, -1 .. 1."""
        return float(self.analysis.value[self.i])

    @property
    def score(self) -> float:
        """Black's lead in points; NaN if unknown."""
        return float(self.analysis.root_score[self.i])

    @property
    def ownership(self) -> np.ndarray | None:
        """The expected ownership, [H, W], 1 Black's, -1 White's; None without forecasts."""
        return None if self.analysis.ownership is None else self.analysis.ownership[self.i]

    def visit_share(self, action: int) -> float:
        """Return a move's share of the visits, 0 .. 1."""
        visits = self.analysis.visits[self.i]
        return float(visits[action] / max(visits.sum(), 1))  # 0 without visits

    @property
    def is_clear(self) -> bool:
        """Whether the best move has nearly all of the visits."""
        return self.visit_share(self.analysis.best(self.i)) >= CLEAR_SHARE

    @property
    def line(self) -> tuple[int, ...]:
        """The line that the search expects, from the best move on; () if the game is over."""
        is_over = len(self.analysis.order(self.i)) == 0
        # order=0: the best move ranks first.
        return () if is_over else self.analysis.move(self.i, self.analysis.best(self.i), order=0).line


class Candidate(NamedTuple, Generic[P]):
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


class SearchResults(NamedTuple):
    """The analyses of the positions before a move, after it, and after the best move."""

    before: AnalysisRow
    after: AnalysisRow
    after_best: AnalysisRow


def is_go(move: Candidate[Position]) -> TypeGuard[Candidate[GoPosition]]:
    """Return whether a move is one of Go."""
    return is_go_position(move.position)

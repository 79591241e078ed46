"""The facts of an explanation: each is data, and says itself in a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import NamedTuple

from alphago.env.game import GameEnv

LADDER = 5  # least plies of a line that is called a ladder
SHOWN_PLIES = 6  # plies of a ladder that a sentence names
# In the limits below, points are those that searches estimate, a probability is the network's before the search, and
# the judge is a much stronger program.  The limits were chosen so that the judge nearly always agrees.
SURE_PART = 0.4  # part of the points that is sure: the judge nearly always finds so many too
LEAST = 2.5  # least sure points that a sentence names: estimates are often too low, so that fewer would mislead
MISTAKE = 3.0  # least points of a mistake: the judge nearly always finds a loss too
MISTAKE_AMONG = 4.0  # the same if the best move has less than LEADS of the visits: after some moves many are better
MISTAKE_RATE = 0.05  # least win rate that a mistake loses where points are unknown
PREFERRED, LEADING = 0.5, 0.8  # least points, and part of the visits, of a move that looks better than the played one
EXPECTED, GAINING = 0.4, 1.5  # or least probability and points, if it has LEADS of the visits
LEADS = 0.5  # least part of the visits of a move that is better without doubt
AMONG = 0.2  # least part of the visits of a move that is named as better
UNEXPECTED = 0.02  # probability below which a move that the search found is named only if it gains a sure number
OWN = 0.9  # least part of the visits of a played best move, to say that the search finds no better move
CHECK = 2  # times the readouts by which a better move that is not clear, or only looks better, is checked
KEPT = -0.3  # least `Loss.change`, in points: a better move with less is in doubt
CLEAR = 0.85  # least part of the visits of a move that leads clearly
LIKELY = 0.3  # least probability of one that leads clearly with less, where a mistake was played
SURE = 0.25  # a chain whose share (`ChangesOwner`) is less is expected to die, one with more than 1 - SURE to live
FORESEEN = 4  # plies of a line that a sentence names: later plies were hardly searched
PLACES = (  # the thirds of a board, from the top and from the left
    ("in the upper left", "at the top", "in the upper right"),
    ("on the left", "in the centre", "on the right"),
    ("in the lower left", "at the bottom", "in the lower right"),
)


class NamedChain(NamedTuple):
    """A chain of stones.

    colour: +1 Black, -1 White.  point: one of its points.  stones: its number of stones.
    """

    colour: int
    point: int
    stones: int


def at_least(points: float) -> str:
    """Return a text with the sure part of an estimate of points; in fights most estimates are too low."""
    return f"{round(SURE_PART * points)} points or more"


def enumerated(texts: Sequence[str]) -> str:
    """Return texts joined by commas and "and"."""
    *others, last = texts
    return f"{', '.join(others)} and {last}" if others else last


class Words:
    """Names of sides, moves and chains in sentences about a game.

    mover: the side whose move is explained, +1 or -1; moves of the other side are named as its own.  0 for no side.
    """

    def __init__(self, env: GameEnv, mover: int = 0) -> None:
        self.move, self.mover = env.to_text, mover
        self.side = env.board_view.side
        self.height, self.width = env.plane_shape
        self.passing = env.pass_action

    def choice(self, action: int) -> str:
        """Return the name of a move that is compared with another one: "passing" for a pass."""
        return "passing" if action == self.passing else self.move(action)

    def played(self, fact: "Fact") -> str:
        """Return the name of a fact's move, such as "D4", or "White's D4" if Black's move is explained."""
        whose = f"{self.side(fact.colour)}'s " if fact.colour == -self.mover else ""
        return whose + self.move(fact.action)

    def group(self, group: NamedChain) -> str:
        """Return a text such as "Black's 3 stones at D4"."""
        return f"{self.side(group.colour)}'s {self.stones(group)}"

    def stones(self, group: NamedChain) -> str:
        """Return a text such as "3 stones at D4"."""
        count = "stone" if group.stones == 1 else f"{group.stones} stones"
        return f"{count} at {self.move(group.point)}"

    def groups(self, groups: Sequence[NamedChain]) -> str:
        """Return the names of chains of one side, such as "Black's stones at C6 and E6"."""
        first, *others = groups
        if others and all(group.stones == 1 for group in groups):
            return f"{self.side(first.colour)}'s stones at {enumerated([self.move(group.point) for group in groups])}"
        return enumerated([self.group(first), *(f"the {self.stones(group)}" for group in others)])

    def place(self, point: int) -> str:
        """Return where a point is, such as "in the upper right"."""
        row, column = divmod(point, self.width)
        return PLACES[3 * row // self.height][3 * column // self.width]

    def line(self, line: Sequence[int], plies: int = FORESEEN) -> str:
        """Return the first moves of a line as text."""
        return " ".join(map(self.move, line[:plies]))


@dataclass(frozen=True)
class Fact:
    """A fact about a move.

    colour: who plays the move, +1 Black, -1 White.  action: the move.  best, in facts that have it: the best move.
    """

    colour: int
    action: int

    def sentence(self, words: Words) -> str:
        """Return the fact as a sentence; an empty text if it is not sure enough to be told."""
        raise NotImplementedError


@dataclass(frozen=True)
class Loss(Fact):
    """What a move loses against the best move.

    points, rate: what it loses, in points (NaN if unknown) and win rate (0 .. 1); negative if it gains.  If there was a
        deeper search, the smaller one of both figures.
    share, prior: the best move's part of the visits, and its probability before the search.
    change: the best move's score by a search of the position after it, minus its score by the search that chose it.
    ends: whether the best move is a pass that ends the game, so that dead stones count as alive.
    """

    best: int
    points: float
    rate: float
    share: float
    prior: float
    change: float
    ends: bool = False

    @property
    def large(self) -> bool:
        """Whether the move is a mistake, and the best move was not quite unexpected.

        A mistake loses at least MISTAKE points, or MISTAKE_AMONG.  If points are unknown, it loses at least
        MISTAKE_RATE of winning.
        """
        if isnan(self.points):
            return self.rate >= MISTAKE_RATE
        is_surprise = self.prior < UNEXPECTED and SURE_PART * self.points < LEAST
        return self.points >= (MISTAKE if self.share >= LEADS else MISTAKE_AMONG) and not is_surprise

    @property
    def doubtful(self) -> bool:
        """Whether the move may be worse, but only a deeper search can tell."""
        is_clear_mistake = self.large and (self.clear or isnan(self.points))
        may_be_worse = self.action != self.best and (self.worse or self.points >= MISTAKE)
        return may_be_worse and not is_clear_mistake

    @property
    def kept(self) -> bool:
        """Whether a search of the position after the best move finds it as good as the search that chose it."""
        return not self.change < KEPT  # true for NaN: in games without points nothing speaks against the move

    @property
    def worse(self) -> bool:
        """Whether the move is said to be worse: it is a mistake, or another one looks better.

        A move looks better if it keeps what it promises and the search looked at hardly any other, or if it gains more,
        was expected before the search, and has enough visits to be named.
        """
        leads = self.points >= PREFERRED and self.share >= LEADING
        gains = self.points >= GAINING and self.share >= LEADS and self.prior >= EXPECTED
        return not self.ends and self.action != self.best and (self.large or (self.kept and (leads or gains)))

    @property
    def praised(self) -> bool:
        """Whether the search is so sure of the move that something may be said in its favour."""
        return self.action == self.best and self.share >= OWN

    @property
    def clear(self) -> bool:
        """Whether the best move leads clearly: it has nearly all visits, or the move is a mistake and it has most."""
        leads_mistake = self.points >= MISTAKE and self.share >= LEADS and self.prior >= LIKELY
        return self.kept and (self.share >= CLEAR or leads_mistake)

    def sentence(self, words: Words) -> str:
        move, best = words.choice(self.action), words.choice(self.best)
        if not self.worse:
            return f"The search finds no better move than {move}." if self.praised else ""
        if not self.large:
            return f"{best} looks better than {move}."
        if self.share < AMONG:  # a search of the position before the move is of another opinion
            return f"{move} {self.size}."
        perhaps = "" if self.clear else "perhaps "
        return f"{move} {self.size}; {perhaps}{best} is better."

    @property
    def size(self) -> str:
        """What the move loses, in words."""
        if SURE_PART * self.points >= LEAST:
            return f"loses {at_least(self.points)}"
        if isnan(self.points):
            return f"loses about {5 * round(20 * self.rate)}% of winning"  # in steps of 5 %
        return "seems a mistake"


@dataclass(frozen=True)
class Reply(Fact):
    """The line that follows a move, up to the ply that shows something.

    mover: who plays the first move of the line: the other side, or in some games the move's side again.
    how: KEY if the line begins on the point of the best move, PUNISHES if the move loses much and the line begins near
        it, else ANSWERS.
    taken: chains of the move's side that the line captures, in Go; the last of them are taken by its last move.
    """

    PUNISHES, KEY, ANSWERS = "punishes", "plays", "answers"

    line: tuple[int, ...]
    mover: int
    how: str
    taken: tuple[NamedChain, ...] = ()

    def sentence(self, words: Words) -> str:
        side, line = words.side(self.mover), words.line(self.line, SHOWN_PLIES if self.taken else FORESEEN)
        end = f" and takes {words.groups(self.taken)}" if self.taken else ""
        if self.mover == self.colour:
            return f"{side} goes on with {line}{end}."
        if self.how == self.KEY:
            would = f"{line}{end}" if self.taken else "there"
            return f"{words.move(self.line[0])} is vital for both sides: {side} would play {would} next."
        return f"{side} {self.how} {words.move(self.action)} with {line}{end}."


@dataclass(frozen=True)
class Better(Fact):
    """The best move, and the line that it begins; not in Go, where such lines seldom show why a move is better."""

    line: tuple[int, ...]

    def sentence(self, words: Words) -> str:
        return f"Better is {words.line(self.line)}."


@dataclass(frozen=True)
class ChangesOwner(Fact):
    """A chain of the move's side that is safer after the best move.

    best_share, share: the chain's chance to survive after the best move and after the played move, 0 .. 1: the part of
        its points that is expected to stay its own side's.
    """

    best: int
    group: NamedChain
    best_share: float
    share: float

    @property
    def decides(self) -> bool:
        """Whether the chain is expected to die after the played move, and to live after the best one."""
        return self.share < SURE and self.best_share > 1 - SURE

    def sentence(self, words: Words) -> str:
        group, move, best = words.group(self.group), words.move(self.action), words.move(self.best)
        die, be = ("dies", "is") if self.group.stones == 1 else ("die", "are")
        if self.decides:
            return f"{group} {die} after {move}, and would live after {best}."
        return f"{group} {be} safer after {best} than after {move}."


@dataclass(frozen=True)
class Gains(Fact):
    """An area that is expected to be better for the move's side after the best move than after the played move.

    centre: the point in its middle.  points: how much better it is.
    weakened: the chain of the other side in it that is weakened most, if one is.
    """

    best: int
    centre: int
    points: float
    weakened: NamedChain | None = None

    def sentence(self, words: Words) -> str:
        if self.weakened:
            return f"{words.move(self.best)} weakens {words.group(self.weakened)}."
        return f"{words.move(self.best)} gains {at_least(self.points)} {words.place(self.centre)}."


@dataclass(frozen=True)
class Lost(Fact):
    """The stone of the move is itself expected to be lost.

    share: its chance to survive, 0 .. 1, see `ChangesOwner`.
    """

    group: NamedChain
    share: float

    def sentence(self, words: Words) -> str:
        return f"{words.group(self.group)} itself is expected to be lost."


@dataclass(frozen=True)
class Captures(Fact):
    """The move captures chains; ko: whether ko forbids the other side to retake at once."""

    groups: tuple[NamedChain, ...]
    ko: bool = False

    def sentence(self, words: Words) -> str:
        in_ko = " in ko" if self.ko else ""
        return f"{words.played(self)} captures {words.groups(self.groups)}{in_ko}."


@dataclass(frozen=True)
class Atari(Fact):
    """The move gives atari to a chain of the other side.

    last: the last liberty of the chain.  line: the moves that catch the chain; () if it can escape.
    """

    group: NamedChain
    last: int
    line: tuple[int, ...]

    def sentence(self, words: Words) -> str:
        move, group = words.played(self), words.group(self.group)
        pronoun = "it" if self.group.stones == 1 else "they"
        return f"{move} puts {group} in atari" + (f", and {pronoun} cannot escape." if self.line else ".")


@dataclass(frozen=True)
class Capturable(Fact):
    """After the move the other side can take a chain of the move's side, but not after the best move.

    line: the moves that take the chain.  The other side begins; each of its moves but the last gives atari.
    """

    best: int
    group: NamedChain
    line: tuple[int, ...]

    def sentence(self, words: Words) -> str:
        when, group = f"After {words.move(self.action)} {words.side(-self.colour)}", words.group(self.group)
        prevented = f"; {words.move(self.best)} would prevent it"
        if len(self.line) == 1:
            return f"{when} can capture {group} with {words.move(self.line[0])}{prevented}."
        is_given_up = self.line[-2] == words.passing  # the chain's side passes instead of the last defence
        line = self.line[:-2] if is_given_up else self.line
        has_repeats = len(set(self.line)) < len(self.line)
        how = " in a ladder" if len(self.line) >= LADDER and not has_repeats else ""
        is_long = len(line) > SHOWN_PLIES + 1  # "…" stands for at least three plies
        shown = f"{words.line(line, SHOWN_PLIES - 1)} …" if is_long else words.line(line, len(line))
        return f"{when} can catch {group}{how} with {shown}{prevented}."


@dataclass(frozen=True)
class Connects(Fact):
    """The move joins chains of its own side."""

    groups: tuple[NamedChain, ...]

    def sentence(self, words: Words) -> str:
        return f"{words.played(self)} connects {words.groups(self.groups)}."


@dataclass(frozen=True)
class Cuts(Fact):
    """The move separates chains of the other side, which a stone of theirs on the same point would have joined."""

    groups: tuple[NamedChain, ...]

    def sentence(self, words: Words) -> str:
        *others, last = self.groups
        return f"{words.played(self)} cuts {words.groups(others)} from the {words.stones(last)}."


@dataclass(frozen=True)
class LosesEye(Fact):
    """The move takes a one-point eye; owner: whose eye it was, +1 Black, -1 White, perhaps of the move's own side."""

    owner: int
    eye: int

    def sentence(self, words: Words) -> str:
        move = words.played(self)
        whose = "its own side's" if self.owner == self.colour else f"{words.side(self.owner)}'s"
        if self.eye == self.action:
            return f"{move} fills {whose} eye."
        return f"{move} destroys {whose} eye at {words.move(self.eye)}."


@dataclass(frozen=True)
class Sente(Fact):
    """The move threatens another move nearby that gains much more than a move elsewhere.

    threat: the next move of the move's side if the other side passes.
    points: what its side gains if the other side passes.
    elsewhere: what the best move gained on a pass before the move, in points.
    """

    threat: int
    points: float
    elsewhere: float

    def sentence(self, words: Words) -> str:
        move, threat, other = words.move(self.action), words.move(self.threat), words.side(-self.colour)
        return f"{move} is sente: it threatens {threat}, which gains {at_least(self.points)} unless {other} answers."


@dataclass(frozen=True)
class Race(Fact):
    """After the move the other side wins a capturing race that it would not win after the best move.

    winner, loser: the chains.  liberties: of the winner and of the loser; the winner's side is to move.
    """

    winner: NamedChain
    loser: NamedChain
    liberties: tuple[int, int]

    def sentence(self, words: Words) -> str:
        (own, other), winner, loser = self.liberties, words.group(self.winner), words.group(self.loser)
        return (
            f"After {words.move(self.action)} {words.side(-self.colour)} wins the capturing race: "
            f"{winner} with {own} liberties, and the move, against {loser} with {other}."
        )

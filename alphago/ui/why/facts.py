"""The facts of an explanation: each is data, and says itself in a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import NamedTuple

from alphago.env.game import GameEnv

LADDER = 5  # plies of a ladder; a shorter one is a plain capture
SHOWN_PLIES = 6  # plies of a ladder that a sentence names
SURE_PART = 0.4  # of an estimate of points, that a strong judge nearly always finds too
LEAST = 2.5  # points that are told; fewer are in no proportion to what such moves lose in fights
MISTAKE = 3.0  # estimated points from which a strong judge nearly always finds a loss too
PREFERRED = 1.25  # estimated points from which another move is said to be better, if there is a reason to tell
LIKELIER = 2.0  # a named move that does not lead clearly had this times the probability of the played one before the
MUCH_LIKELIER = 10.0  # search, and one that is better by less than MISTAKE this times
OWN = 0.7  # part of the visits of a move than which a search finds no better one: such a move seldom loses
KEPT = -0.3  # points: a better move whose own search finds less than this beyond the first one is in doubt
CLEAR = 0.85  # part of the visits of a move that leads clearly; or:
LEADS, LIKELY = 0.5, 0.3  # of a mistake, this part of the visits and this probability
SURE = 0.25  # a chain is expected to die below this share, and to live above 1 - SURE
FORESEEN = 4  # plies of a search's line that it names: what comes later was hardly searched


class NamedChain(NamedTuple):
    """A chain of stones: +1 Black's or -1 White's, one of its points, and its number of stones."""

    colour: int
    point: int
    stones: int


def at_least(points: float) -> str:
    """Return the part of an estimate that is sure, as text: estimates are out by a factor, in fights mostly too low."""
    return f"{round(SURE_PART * points)} points or more"


class Words:
    """Names of sides, moves and chains in sentences about a game."""

    def __init__(self, env: GameEnv) -> None:
        self.move = env.to_text
        self.side = env.board_view.side
        self.passing = env.pass_action

    def group(self, group: NamedChain) -> str:
        """Return a text such as "Black's 3 stones at D4"."""
        count = "stone" if group.stones == 1 else f"{group.stones} stones"
        return f"{self.side(group.colour)}'s {count} at {self.move(group.point)}"

    def groups(self, groups: Sequence[NamedChain]) -> str:
        """Return the names of chains, joined by commas and "and"."""
        *others, last = map(self.group, groups)
        return f"{', '.join(others)} and {last}" if others else last

    def line(self, line: Sequence[int], plies: int = FORESEEN) -> str:
        """Return the first moves of a line as text."""
        return " ".join(map(self.move, line[:plies]))


@dataclass(frozen=True)
class Fact:
    """A fact about a move; action: the move, as an action.  colour: who plays it, +1 Black, -1 White."""

    colour: int
    action: int

    def sentence(self, words: Words) -> str:
        """Return the fact as a sentence; an empty text if it is not sure enough to be told."""
        raise NotImplementedError


@dataclass(frozen=True)
class Loss(Fact):
    """What a move loses against the best one, in points (NaN if unknown) and win rate (0 .. 1); below 0 if it gains.

    share, prior: the best move's part of the visits, and its probability before the search.
    played: the probability of the move itself.
    change: by how many points a search after the best move finds it better than the search that chose it.
    shown: whether the rules show a loss, a chain that can be taken after the move and not after the best one.
    felt: whether the board's forecast is clearly better after the best move: a chain is safer, or an area larger.
    """

    best: int
    points: float
    rate: float
    share: float
    prior: float
    played: float
    change: float
    shown: bool = False
    felt: bool = False

    @property
    def large(self) -> bool:
        """Whether the move is a mistake: it loses points that are told, or MISTAKE ones and that is sure enough.

        If the points are unknown, it is one from 5 % of winning on.
        """
        if isnan(self.points):
            return self.rate >= 0.05
        sure = self.clear or self.shown or (self.felt and self.likelier)
        return SURE_PART * self.points >= LEAST or (self.points >= MISTAKE and sure)

    @property
    def kept(self) -> bool:
        """Whether the best move is still as good when it is searched itself."""
        return not self.change < KEPT

    @property
    def likelier(self) -> bool:
        """Whether the best move was likelier than the played one before the search."""
        return self.prior >= LIKELIER * self.played

    @property
    def named(self) -> bool:
        """Whether the best move is sure enough to be told."""
        return self.kept or self.likelier

    @property
    def worse(self) -> bool:
        """Whether the move is told to be worse: it is a mistake, or loses less and there is a reason to tell."""
        preferred = self.points >= PREFERRED and self.felt and self.prior >= MUCH_LIKELIER * self.played
        return self.action != self.best and (self.large or preferred)

    @property
    def clear(self) -> bool:
        """Whether the best move leads clearly."""
        leads = self.points >= MISTAKE and self.share >= LEADS and self.prior >= LIKELY
        return self.kept and (self.share >= CLEAR or leads)

    def sentence(self, words: Words) -> str:
        move, best = words.move(self.action), words.move(self.best)
        if not self.worse:
            is_sure = self.action == self.best and self.share >= OWN
            return f"The search finds no better move than {move}." if is_sure else ""
        if not self.large:
            return f"{move} seems worse than {best}."
        better = f"; {'' if self.clear else 'perhaps '}{best} is better" if self.named else ""
        return f"{move} {self.size}{better}."

    @property
    def size(self) -> str:
        """What is lost, in words; points as `at_least` gives them."""
        if SURE_PART * self.points >= LEAST:
            return f"loses {at_least(self.points)}"
        return f"loses about {round(20 * self.rate) * 5}% of winning" if isnan(self.points) else "seems a mistake"


@dataclass(frozen=True)
class Reply(Fact):
    """The line that follows a move, as far as it shows something.

    mover: who begins the line, in games in which a side moves several times perhaps the same side.
    how: PUNISHES if it begins beside a move that loses much, TAKES if the other side begins with the best move's point.
    taken: chains of the move's side that the line captures, the last ones by its last move; only in Go.
    """

    PUNISHES, TAKES, ANSWERS = "punishes it with", "takes the point of the better move:", "answers with"

    line: tuple[int, ...]
    mover: int
    how: str
    taken: tuple[NamedChain, ...] = ()

    def sentence(self, words: Words) -> str:
        verb = "goes on with" if self.mover == self.colour else self.how
        harm = f" and takes {words.groups(self.taken)}" if self.taken else ""
        return f"{words.side(self.mover)} {verb} {words.line(self.line, SHOWN_PLIES if harm else FORESEEN)}{harm}."


@dataclass(frozen=True)
class Better(Fact):
    """The best move and the line that follows it; not in Go, where such lines seldom show why it is better."""

    line: tuple[int, ...]

    def sentence(self, words: Words) -> str:
        return f"Better is {words.line(self.line)}."


@dataclass(frozen=True)
class ChangesOwner(Fact):
    """A chain of the move's side that is lost, or less safe, unlike after the best move; or one of the other side's
    that the best move captures or weakens, unlike this one.

    best_share, share: its chance to survive after the best move and after this one, 0 .. 1: the part of its points that
        stays its own side's.
    """

    best: int
    group: NamedChain
    best_share: float
    share: float

    def sentence(self, words: Words) -> str:
        group, move, best = words.group(self.group), words.move(self.action), words.move(self.best)
        one, own = self.group.stones == 1, self.group.colour == self.colour
        dies, lives = f"die{'s' * one} after", "would live after" if own else f"live{'s' * one} after"
        after_move, after_best = f"{move} ({self.share:.0%} to survive)", f"{best} ({self.best_share:.0%} to survive)"
        low, high = (after_move, after_best) if own else (after_best, after_move)
        if min(self.share, self.best_share) < SURE and max(self.share, self.best_share) > 1 - SURE:
            return f"{group} {dies} {low}, and {lives} {high}."
        change = f"{'is' if one else 'are'} {'safer' if own else 'weaker'}"
        return f"{group} {change} after {after_best} than after {after_move}."


@dataclass(frozen=True)
class Gains(Fact):
    """An area that is expected to be better for the move's side after the best move than after this one.

    centre: the point in its middle.  points: how much better.
    """

    best: int
    centre: int
    points: float

    def sentence(self, words: Words) -> str:
        best, move = words.move(self.best), words.move(self.action)
        where = "around it" if self.centre == self.best else f"around {words.move(self.centre)}"
        return f"{best} gains {at_least(self.points)} {where}, compared with {move}."


@dataclass(frozen=True)
class Lost(Fact):
    """The stone that the move puts down is expected to be lost; share: as in `ChangesOwner`."""

    group: NamedChain
    share: float

    def sentence(self, words: Words) -> str:
        return f"{words.group(self.group)} itself is expected to be lost ({self.share:.0%} to survive)."


@dataclass(frozen=True)
class Captures(Fact):
    """The move takes chains off the board; ko: the other side may not retake at once."""

    groups: tuple[NamedChain, ...]
    ko: bool = False

    def sentence(self, words: Words) -> str:
        return f"{words.move(self.action)} captures {words.groups(self.groups)}{' in ko' * self.ko}."


@dataclass(frozen=True)
class Atari(Fact):
    """The move leaves a chain of the other side one liberty, `last`; line: if it cannot be saved, how it is caught."""

    group: NamedChain
    last: int
    line: tuple[int, ...]

    def sentence(self, words: Words) -> str:
        move, group = words.move(self.action), words.group(self.group)
        pronoun = "it" if self.group.stones == 1 else "they"
        return f"{move} puts {group} in atari" + (f", and {pronoun} cannot escape." if self.line else ".")


@dataclass(frozen=True)
class Capturable(Fact):
    """After the move the other side can take one of its chains, unlike after the best move.

    line: the other side's move first, each of its moves but the last an atari.
    """

    group: NamedChain
    line: tuple[int, ...]

    def sentence(self, words: Words) -> str:
        when, group = f"After {words.move(self.action)} {words.side(-self.colour)}", words.group(self.group)
        if len(self.line) == 1:
            return f"{when} can capture {group} at {words.move(self.line[0])}."
        line = self.line[:-2] if self.line[-2] == words.passing else self.line
        how = " in a ladder" if len(set(self.line)) == len(self.line) >= LADDER else ""
        return f"{when} can catch {group}{how} with {words.line(line, SHOWN_PLIES)}."


@dataclass(frozen=True)
class Connects(Fact):
    """The move joins chains of its own side."""

    groups: tuple[NamedChain, ...]

    def sentence(self, words: Words) -> str:
        return f"{words.move(self.action)} connects {words.groups(self.groups)}."


@dataclass(frozen=True)
class Cuts(Fact):
    """The move separates chains of the other side that a stone on its point would have joined."""

    groups: tuple[NamedChain, ...]

    def sentence(self, words: Words) -> str:
        *others, last = map(words.group, self.groups)
        return f"{words.move(self.action)} cuts {', '.join(others)} from {last}."


@dataclass(frozen=True)
class LosesEye(Fact):
    """The move takes a one-point eye from its owner, +1 Black or -1 White; perhaps from its own side."""

    owner: int
    eye: int

    def sentence(self, words: Words) -> str:
        whose = "its own side's" if self.owner == self.colour else f"{words.side(self.owner)}'s"
        where = "" if self.eye == self.action else f" at {words.move(self.eye)}"
        return f"{words.move(self.action)} {'fills' if self.eye == self.action else 'destroys'} {whose} eye{where}."


@dataclass(frozen=True)
class Sente(Fact):
    """The move makes a threat nearby that is worth much more than any other move.

    threat: its side's move if the other side plays elsewhere.  points: what that gains against an answer.
    elsewhere: what having the move was worth before, both in points.
    """

    threat: int
    points: float
    elsewhere: float

    def sentence(self, words: Words) -> str:
        move, threat, other = words.move(self.action), words.move(self.threat), words.side(-self.colour)
        return f"{move} is sente: it threatens {threat}, which gains {at_least(self.points)} unless {other} answers."


@dataclass(frozen=True)
class Race(Fact):
    """After the move the other side wins a capturing race, which it would not win after the best move.

    winner, loser: the chains, each with its liberties; the winner's side is to move.
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

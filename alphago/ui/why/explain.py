"""`explain`: why a move is good or bad, as facts with numbers and as sentences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.go_position import GoPosition
from alphago.env.position import Position
from alphago.mcts.analysis import analyze
from alphago.mcts.analysis_result import Analysis
from alphago.mcts.search_forms import SearchForm
from alphago.system.validation import check_int, checks_keywords
from alphago.ui.why.deeds import deeds, group_of, in_danger, share_of, stones_of
from alphago.ui.why.facts import Answer, Better, Capturable, ChangesOwner, Fact, Group, Loss, Lost, Sente, Words

PASS_SHARE = 4  # a position after a pass gets this part of the readouts, as a divisor
THREAT = 4.0  # least points by which a threat exceeds the worth of any other move
SURE = 0.35  # a chain is expected to die below this share, and to live above 1 - SURE
DEAD = 0.25  # the stone that was played is expected to be lost below this share
MOST_CHAINS = 3  # of each kind of fact

Search = Callable[[Sequence[Position], int], Analysis]


@dataclass(frozen=True)
class Explanation:
    """The facts about a move, the most important first.

    env: the game.  action: the move.  facts: see `alphago.ui.why.facts`.
    """

    env: GameEnv
    action: int
    facts: tuple[Fact, ...]

    @property
    def loss(self) -> Loss:
        """What the move loses."""
        return next(fact for fact in self.facts if isinstance(fact, Loss))

    @property
    def sentences(self) -> list[str]:
        """The facts as sentences."""
        words = Words(self.env)
        texts = [fact.sentence(words) for fact in self.facts]
        return [text[0].upper() + text[1:] for text in texts]  # a move may be called "pass"

    def __str__(self) -> str:
        return "\n".join(self.sentences)


@checks_keywords()
def explain(
    position: Position,
    move: int | str,
    net: Any,
    readouts: int = 200,
    *,
    symmetries: bool = False,
    settings: SearchForm = None,
    device: str = "auto",
    threads: int | None = None,
) -> Explanation:
    """Say why a move is good or bad, in facts that a search or the rules give.

    The positions before the move, after it and after the best move are searched.  Every game has what the move loses,
    the line that answers it, and the best line.  Go has besides: chains whose owner changes, captures, atari, ladders,
    connections and cuts, lost eyes, and whether a move is sente.

    position: before the move.  move: as an action or as text.
    net, readouts, symmetries, settings, device, threads: as in `analyze`, for each position.  Positions after a pass,
        for what a move threatens, get a quarter of the readouts.

    Raises IllegalMove if the move cannot be played.
    """
    check_int("readouts", readouts, 1)
    action = position.check_action(move)
    options: dict[str, Any] = {"symmetries": symmetries, "settings": settings, "device": device, "threads": threads}

    def search(positions: Sequence[Position], count: int) -> Analysis:
        return analyze(positions, net, count, **options)

    first = search([position, position.play(action)], readouts)
    return explain_moves([(position, action)], first, search, readouts)[0]


def explain_moves(
    moves: Sequence[tuple[Position, int]], first: Analysis, search: Search, readouts: int
) -> list[Explanation]:
    """Explain several moves of one game, with searches that they share.

    moves: positions, and legal actions in them.
    first: the analyses of each position and of the one after its move, in turn: two rows a move.
    search: analyses positions with a number of readouts.
    """
    if not moves:
        return []
    tried = [Tried(position, action, first.best(2 * i)) for i, (position, action) in enumerate(moves)]
    bests = search([one.after_best for one in tried], readouts)
    passed = [position for one in tried for position in one.passed]
    passes = search(passed, max(1, readouts // PASS_SHARE)) if passed else None
    found, row = [], 0
    for i, one in enumerate(tried):
        rows = range(row, row := row + len(one.passed))
        seen = Seen(
            Row(first, 2 * i), Row(first, 2 * i + 1), Row(bests, i), [Row(passes, r) for r in rows if passes is not None]
        )
        found.append(Explanation(one.position.env, one.action, tuple(facts_of(one, seen))))
    return found


class Tried:
    """A move and the best one, played.

    passed: the positions after a pass before the move, after it, and after the best move; only in Go, and none where
    passing would end the game or is not allowed.
    """

    def __init__(self, position: Position, action: int, best: int) -> None:
        self.position, self.action, self.best = position, action, best
        self.mover = position.to_play
        self.after, self.after_best = position.play(action), position.play(best)
        passing = position.env.pass_action
        starts = [position, self.after, self.after_best]
        can = isinstance(position, GoPosition) and passing not in (action, best)
        ready = [start.play(passing) for start in starts if can and passing is not None and start.legal_mask[passing]]
        self.passed = ready if len(ready) == 3 and not any(p.is_over for p in ready) else []


@dataclass(frozen=True)
class Row:
    """The analysis of one position, in Black's view."""

    analysis: Analysis
    i: int

    @property
    def view(self) -> int:
        return int(self.analysis.to_play[self.i])

    @property
    def value(self) -> float:
        return self.view * float(self.analysis.value[self.i])

    @property
    def score(self) -> float:
        return self.view * float(self.analysis.root_score[self.i])

    @property
    def ownership(self) -> np.ndarray | None:
        owners = self.analysis.ownership
        return None if owners is None else self.view * owners[self.i]

    @property
    def line(self) -> tuple[int, ...]:
        """The expected moves; none after the end of the game."""
        over = not len(self.analysis.order(self.i))
        return () if over else self.analysis.move(self.i, self.analysis.best(self.i), 0).line


@dataclass(frozen=True)
class Seen:
    """What the searches found before the move, after it, after the best one, and after the passes of `Tried`."""

    before: Row
    after: Row
    best: Row
    passed: list[Row]


def facts_of(tried: Tried, seen: Seen) -> list[Fact]:
    """Return the facts about a move, the most important first."""
    mover, action, best = tried.mover, tried.action, tried.best
    points = mover * (seen.best.score - seen.after.score)
    rate = mover * (seen.best.value - seen.after.value) / 2
    loss = Loss(mover, action, best, 0.0 if action == best else points, 0.0 if action == best else rate)
    bad = not loss.small and action != best
    facts: list[Fact] = [loss]
    go = isinstance(tried.position, GoPosition)
    if bad and go:
        facts += fates(tried, seen)
    answer = seen.after.line
    if answer:
        facts.append(Answer(mover, action, answer, bad and loss.large))
    if go:
        facts += board_facts(tried, seen, answer if bad else ())
    if action != best and bad:
        facts.append(Better(mover, best, (best, *seen.best.line)))
        if go:
            facts += deeds(tried.position, best)
            facts += sente(tried, seen, best, 2)
    return facts


def board_facts(tried: Tried, seen: Seen, answer: Sequence[int]) -> list[Fact]:
    """Return what the move does on the board, what it leaves in danger, and what the answer, if there is one, does."""
    facts = [*deeds(tried.position, tried.action), *dangers(tried, answer[:1])]
    if answer:
        facts += deeds(tried.after, answer[0])
    return [*facts, *sente(tried, seen, tried.action, 1)]


def fates(tried: Tried, seen: Seen) -> list[Fact]:
    """Return the chains that live after one of the two moves and die after the other, and whether the stone dies."""
    best_owners, owners = seen.best.ownership, seen.after.ownership
    if best_owners is None or owners is None:
        return []
    mover, action, found = tried.mover, tried.action, list[ChangesOwner]()
    for chain in stones_of(tried.position).chains():
        shares = share_of(best_owners, chain.stones, chain.colour), share_of(owners, chain.stones, chain.colour)
        if min(shares) < SURE and max(shares) > 1 - SURE:
            found.append(ChangesOwner(mover, action, tried.best, group_of(chain), *shares))
    found.sort(key=lambda fact: -fact.harm)
    lost: list[Fact] = []
    if action != tried.position.env.pass_action:
        own = stones_of(tried.after).chain(action)
        share = share_of(owners, own.stones, mover)
        if share < DEAD and len(own.stones) == 1:
            lost.append(Lost(mover, action, Group(mover, action, 1), share))
    return [*found[:MOST_CHAINS], *lost]


def dangers(tried: Tried, told: Sequence[int]) -> list[Fact]:
    """Return the chains of the mover that can be taken after the move, and could not after the best one.

    told: moves of the other side whose deeds are told in any case.
    """
    if tried.action == tried.best:
        return []
    safe = {point for chain, _ in in_danger(tried.after_best) for point in chain.stones}
    found = [(chain, line) for chain, line in in_danger(tried.after) if not chain.stones & safe and line[0] not in told]
    found.sort(key=lambda one: -len(one[0].stones))
    return [Capturable(tried.mover, tried.action, group_of(chain), line) for chain, line in found[:MOST_CHAINS]]


def sente(tried: Tried, seen: Seen, action: int, which: int) -> list[Fact]:
    """Return whether a move threatens more than a move elsewhere is worth; needs scores.

    which: the index of the move's position in `Tried.passed`.
    """
    if not seen.passed:
        return []
    reached = seen.after if which == 1 else seen.best
    elsewhere = tried.mover * (seen.best.score - seen.passed[0].score)
    gain = tried.mover * (seen.passed[which].score - reached.score)
    if not gain >= max(elsewhere, 0) + THREAT:
        return []
    return [Sente(tried.mover, action, seen.passed[which].line[0], gain, max(elsewhere, 0.0))]

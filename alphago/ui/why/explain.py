"""`explain`: why a move is good or bad, as facts with numbers and as sentences."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.packaged import packaged_net
from alphago.env.position import Position
from alphago.mcts.analysis_result import Analysis
from alphago.mcts.search_forms import SearchForm
from alphago.system.validation import check_int, checks_keywords
from alphago.ui.why.facts import CHECK, Better, Fact, Loss, Reply, Words
from alphago.ui.why.go_facts import go_facts
from alphago.ui.why.searches import Searches
from alphago.ui.why.tried import Searched, Tried, is_go, rows_of

PASS_SHARE = 4  # a position after a pass gets this part of the readouts, as a divisor


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
    def told(self) -> list[tuple[Fact, str]]:
        """The facts, each with its sentence, which is empty if the fact is not sure enough to be told."""
        mover = next((fact.colour for fact in self.facts if fact.action == self.action), 0)
        words = Words(self.env, mover)
        pairs = [(fact, fact.sentence(words)) for fact in self.facts]
        return [(fact, text[:1].upper() + text[1:]) for fact, text in pairs]  # a move may be called "pass"

    @property
    def sentences(self) -> list[str]:
        """The sentences of the facts that are told; none if the move is neither clearly bad nor clearly the best."""
        return [text for _, text in self.told if text]

    @property
    def reasons(self) -> list[str]:
        """The sentences without those about what the move loses and which move is better."""
        return [text for fact, text in self.told if text and not isinstance(fact, Loss | Better)]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Show the sentences as a notebook cell's value."""
        printer.text(str(self))

    def __str__(self) -> str:
        return "\n".join(self.sentences) or f"There is nothing to say about {self.env.to_text(self.action)}."


def last_move(position: Position) -> tuple[Position, int]:
    """Return the position before the last move, and that move; raise ValueError if there is none."""
    if not position.moves:
        raise ValueError("there is no move to explain")
    *_, before, _ = position.replay()
    return before, position.moves[-1]


@checks_keywords()
def explain(
    position: Position,
    move: int | str,
    net: Any = None,
    readouts: int = 200,
    *,
    symmetries: bool = False,
    settings: SearchForm = None,
    device: str = "auto",
    threads: int | None = None,
) -> Explanation:
    """Say why a move is good or bad, in facts that a search or the rules give.

    The positions before the move, after it and after the best move are searched.  In every game the facts are what the
    move loses, the line that answers it, and the best line.  In Go there are more: chains whose owner changes,
    captures, atari, ladders, connections and cuts, lost eyes, and whether a move is sente.

    position: before the move.  move: an action, or text.
    net: as in `analyze`; None for the packaged network that plays the game by default.
    readouts, symmetries, settings, device, threads: as in `analyze`, for each position.  Positions after a pass, which
        show what a move threatens, are searched with a quarter of the readouts.

    Raises IllegalMove if the move cannot be played, and ValueError without `net` if no packaged network plays the game.
    """
    check_int("readouts", readouts, 1)
    action, env = position.check_action(move), position.env
    network = packaged_net(env.name, env.N) if net is None else net
    if network is None:
        raise ValueError(f"net must be given: no network for {env.name} comes with the package")
    searches = Searches(env, network, symmetries=symmetries, settings=settings, device=device, threads=threads)
    after = position.play(action)
    first = searches([([position], readouts), ([after], readouts)])
    return explain_moves([(position, action, after)], first, searches, readouts)[0]


def explain_moves(
    moves: Sequence[tuple[Position, int, Position]], first: Analysis, searches: Searches, readouts: int
) -> list[Explanation]:
    """Explain several moves of one game; their positions are searched together.

    moves: for each move the position before it, its action, and the position after it.
    first: for each move the analyses of two positions: before the move and after it.
    searches: searches the other positions; of the game's network.
    readouts: of each position; a position after a pass gets a part of them (PASS_SHARE), and the positions of a move
        that may be worse are searched again with more (CHECK).
    """
    if not moves:
        return []
    all_tried = [Tried(position, action, first.best(2 * i), after) for i, (position, action, after) in enumerate(moves)]
    all_seen = search_after_best(all_tried, first, searches, readouts)
    losses = [loss_of(tried, seen) for tried, seen in zip(all_tried, all_seen, strict=True)]
    check_doubtful(all_tried, all_seen, losses, searches, CHECK * readouts)
    return [
        Explanation(tried.position.env, tried.action, tuple(facts_of(tried, seen, loss)))
        for tried, seen, loss in zip(all_tried, all_seen, losses, strict=True)
    ]


def search_after_best(
    all_tried: Sequence[Tried[Position]], first: Analysis, searches: Searches, readouts: int
) -> list[Searched]:
    """Search the positions after the best moves, and those after a pass; return for each move what is known of it.

    first, searches, readouts: as in `explain_moves`.
    """
    for tried in all_tried:
        searches.continue_below(tried.position, tried.best, tried.after_best)
    wanted: list[tuple[Sequence[Position], int]] = []
    for tried in all_tried:
        wanted.append(([tried.after_best], readouts))
        if tried.passed:
            wanted.append((tried.passed, max(1, readouts // PASS_SHARE)))
    first_rows, rows = rows_of(first), rows_of(searches(wanted))
    return [
        Searched(
            before=next(first_rows),
            after=next(first_rows),
            after_best=next(rows),
            passed=[next(rows) for _ in tried.passed],
        )
        for tried in all_tried
    ]


def check_doubtful(
    all_tried: Sequence[Tried[Position]],
    all_seen: list[Searched],
    losses: list[Loss],
    searches: Searches,
    readouts: int,
) -> None:
    """Search the positions of doubtful moves with more readouts; enter what that finds into `all_seen` and `losses`.

    all_tried, all_seen, losses: for each move.
    """
    doubtful = [i for i, loss in enumerate(losses) if loss.doubtful]
    if not doubtful:
        return
    wanted = []
    for tried in (all_tried[i] for i in doubtful):
        wanted += [([position], readouts) for position in (tried.position, tried.after, tried.after_best)]
    rows = rows_of(searches(wanted))
    for i in doubtful:
        all_seen[i] = replace(all_seen[i], before=next(rows), after=next(rows), after_best=next(rows))
        losses[i] = smaller_loss(losses[i], loss_of(all_tried[i], all_seen[i]))


def loss_of(tried: Tried[Position], seen: Searched) -> Loss:
    """Return what a move loses against the best one."""
    mover, action, best = tried.mover, tried.action, tried.best
    is_best = action == best
    return Loss(
        mover,
        action,
        best,
        points=0.0 if is_best else mover * (seen.after_best.score - seen.after.score),
        rate=0.0 if is_best else mover * (seen.after_best.value - seen.after.value) / 2,
        share=seen.before.part_of(best),
        prior=seen.before.prior_of(best),
        change=mover * seen.after_best.score - float(seen.before.analysis.score[seen.before.i, best]),
        ends=best == tried.position.env.pass_action and tried.after_best.is_over,
    )


def smaller_loss(loss: Loss, deeper: Loss) -> Loss:
    """Return the loss by a deeper search, but with no larger figures than those by the first search."""
    return replace(deeper, points=min(loss.points, deeper.points), rate=min(loss.rate, deeper.rate))


def facts_of(tried: Tried[Position], seen: Searched, loss: Loss) -> list[Fact]:
    """Return the facts about a move, the most important first; loss: what it loses."""
    mover, action, best = tried.mover, tried.action, tried.best
    if is_go(tried):
        return [loss, *go_facts(tried, seen, loss)]
    facts: list[Fact] = [loss]
    if answer := seen.after.line:
        if loss.worse and answer[0] == best:
            how = Reply.KEY
        else:
            how = Reply.PUNISHES if loss.large else Reply.ANSWERS
        facts.append(Reply(mover, action, line=answer, mover=tried.after.to_play, how=how))
    if loss.worse:
        facts.append(Better(mover, best, line=(best, *seen.after_best.line)))
    return facts

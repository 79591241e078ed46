"""`explain`: why a move is good or bad, as facts with numbers and as sentences."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.packaged_nets import packaged_net
from alphago.env.position import Position
from alphago.mcts.analyst import Analyst
from alphago.mcts.search_specs import SearchSpec
from alphago.system.validation import check_int, checks_keywords
from alphago.ui.why.facts import MISTAKE, AnalysisRow, Candidate, Fact, Loss, Phrasing, Reply, SearchResults, is_go
from alphago.ui.why.go_facts import go_facts

READOUTS = 200  # of each position


@dataclass(frozen=True)
class Explanation:
    """The facts about a move, the most important first.

    Attributes:
        env: the game.
        action: the move.
        facts: see `alphago.ui.why.facts`; the first one is about the move itself.
    """

    env: GameEnv
    action: int
    facts: tuple[Fact, ...]

    @property
    def loss(self) -> Loss:
        """What the move loses."""
        return next(fact for fact in self.facts if isinstance(fact, Loss))

    @property
    def fact_sentences(self) -> list[tuple[Fact, str]]:
        """The facts, each with its sentence, which is empty if the fact is not sure enough to be told."""
        words = Phrasing(self.env, mover=self.loss.colour)
        pairs = [(fact, fact.sentence(words)) for fact in self.facts]
        return [(fact, text[:1].upper() + text[1:]) for fact, text in pairs]  # a sentence may begin with "pass"

    @property
    def sentences(self) -> list[str]:
        """The sentences that are not empty; none if the move is neither clearly bad nor clearly the best."""
        return [text for _, text in self.fact_sentences if text]

    @property
    def reasons(self) -> list[str]:
        """The sentences without the one about what the move loses and which move is better."""
        return [text for fact, text in self.fact_sentences if text and not isinstance(fact, Loss)]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Show the sentences as a notebook cell's value."""
        printer.text(str(self))

    def __str__(self) -> str:
        return "\n".join(self.sentences) or f"There is nothing to say about {self.env.to_text(self.action)}."


@checks_keywords()
def explain(
    position: Position,
    move: int | str | None = None,
    net: Any = None,
    readouts: int = READOUTS,
    *,
    symmetries: bool = False,
    settings: SearchSpec = None,
    device: str = "auto",
    threads: int | None = None,
) -> Explanation:
    """Say why a move is good or bad, in facts that a search or the rules give.

    The positions before the move, after it and after the best move are searched.  In every game the facts are what the
    move loses, with the best line, and the line that answers it.  In Go there are more: captures, ataris and ladders,
    and chains that are safer after the best move.

    Args:
        position: before the move; without `move`, after it.
        move: an action, or text; None for the last move that led to the position.
        net: the network, in any form that `alphago.analyze` accepts; None for the packaged network that plays the game
            by default.
        readouts: simulations for each position.  If the move loses much, its positions are searched with twice as many.
        symmetries, settings, device, threads: see `alphago.analyze`.

    Raises:
        IllegalMove: if the move cannot be played.
        ValueError: without `net` if no packaged network plays the game, and if no move led to the position.
    """
    check_int("readouts", readouts, 1)
    if move is None:
        if not position.moves:
            raise ValueError("there is no move to explain")
        *_, (position, move) = position.turns()
    action, env = position.check_action(move), position.env
    network = packaged_net(env.name, env.N) if net is None else net
    if network is None:
        raise ValueError(f"net must be given: no network for {env.name} comes with the package")
    with Analyst(network, settings=settings, symmetries=symmetries, device=device, threads=threads) as analyst:
        return explain_moves([(position, action)], analyst, readouts)[0]


def explain_moves(
    moves: Sequence[tuple[Position, int]], analyst: Analyst, readouts: int = READOUTS, least: float = MISTAKE
) -> list[Explanation]:
    """Explain several moves of one game; their positions are searched together.

    Args:
        moves: for each move the position before it, and its action.
        readouts: simulations for each position.  If a move loses much, its positions are searched with twice as many.
        least: the least points that a mistake loses.
    """
    if not moves:
        return []
    candidates = find_best(moves, analyst, readouts)
    results = search(candidates, analyst, readouts)
    losses = [measure_loss(move, result, least) for move, result in zip(candidates, results, strict=True)]
    # Mistakes by this search; a deeper search checks them.
    doubtful = [i for i, loss in enumerate(losses) if loss.is_mistake]
    deeper = search([candidates[i] for i in doubtful], analyst, 2 * readouts)
    for i, result in zip(doubtful, deeper, strict=True):
        results[i] = result
        losses[i] = smaller_loss(losses[i], measure_loss(candidates[i], result, least))
    return [
        Explanation(move.position.env, move.action, tuple(list_facts(move, result, loss)))
        for move, result, loss in zip(candidates, results, losses, strict=True)
    ]


def find_best(moves: Sequence[tuple[Position, int]], analyst: Analyst, readouts: int) -> list[Candidate[Position]]:
    """Return each move with the best one in its place, which a search finds.

    The positions after the moves are searched at the same time.  The analyst keeps their trees, in which the function
    `search` goes on later.
    """
    after = [position.play(action) for position, action in moves]
    analysis = analyst.analyze([*(position for position, _ in moves), *after], readouts)
    candidates = []
    for i, ((position, action), played) in enumerate(zip(moves, after, strict=True)):
        best = analysis.best(i)  # row i of the analysis is of the position before move i
        after_best = played if best == action else position.play(best)
        candidates.append(Candidate(position, action, best, after=played, after_best=after_best))
    return candidates


def search(candidates: Sequence[Candidate[Position]], analyst: Analyst, readouts: int) -> list[SearchResults]:
    """Search three positions for each move: before it, after it, and after the best move.

    Simulations in trees that the analyst has kept from earlier searches count.
    """
    if not candidates:
        return []
    parts = [(move.position, move.after, move.after_best) for move in candidates]
    analysis = analyst.analyze([position for part in parts for position in part], readouts).as_black()
    # Three rows for each move, in the order of the fields of SearchResults.
    rows = [AnalysisRow(analysis, i) for i in range(len(analysis))]
    return [SearchResults(*rows[begin : begin + 3]) for begin in range(0, len(rows), 3)]


def measure_loss(move: Candidate[Position], results: SearchResults, least: float) -> Loss:
    """Return what a move loses against the best one.

    Args:
        least: the least points that a mistake loses.
    """
    mover, best, is_best = move.mover, move.best, move.action == move.best
    # Scores and values are Black's; `mover` turns their differences into the mover's view.
    points = 0.0 if is_best else mover * (results.after_best.score - results.after.score)
    rate = 0.0 if is_best else mover * (results.after_best.value - results.after.value) / 2
    visit_share = results.before.visit_share(best)
    line = () if is_go(move) else (best, *results.after_best.line)  # in Go it seldom shows why `best` is better
    best_ends_game = best == move.position.env.pass_action and move.after_best.is_over
    return Loss(mover, move.action, best, points, rate, visit_share, line, best_ends_game, least)


def smaller_loss(loss: Loss, deeper: Loss) -> Loss:
    """Return the loss by a deeper search, with the first search's points and rate where they are smaller."""
    return replace(deeper, points=min(loss.points, deeper.points), rate=min(loss.rate, deeper.rate))


def list_facts(move: Candidate[Position], results: SearchResults, loss: Loss) -> list[Fact]:
    """Return the facts about a move, the most important first, given what it loses."""
    if is_go(move):
        return [loss, *go_facts(move, results, loss)]
    line = results.after.line
    is_key = loss.is_mistake and line[:1] == (move.best,)  # the next move is the best move itself
    # `colour` and `action` are of the explained move, `mover` and `line` of the reply.
    reply = Reply(colour=move.mover, action=move.action, line=line, mover=move.after.to_play, is_key=is_key)
    return [loss, reply] if line else [loss]

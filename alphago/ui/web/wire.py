"""The messages to the page, as objects with named fields; `wire.js` describes the same for the page's script."""

import math
from collections.abc import Mapping
from typing import Any, Literal, TypedDict

import numpy as np

from alphago.mcts.analysis_result import Analysis, MoveAnalysis
from alphago.system.validation import shown
from alphago.ui.why.explain import Explanation

MOST_MOVES = 40  # most moves of an analysis that are sent
SMALL_PRIOR = 0.005  # moves without visits are sent if their prior is at least this,
ALIKE = 0.5  # or this share of the prior of the last one that is: equal moves are sent together
LEAST_VISITS = 50  # that a value needs: the mean of so many random games is right within 7 % in two of three cases

Message = Mapping[str, Any]  # from or to the page; its "type" names its kind

# Why the engine works: to choose a move and play it; to analyse a position until told to stop; to search the positions
# of a line; to find the dead stones of a finished game.
Purpose = Literal["move", "analyse", "review", "count"]


class MoveView(TypedDict):
    """A move of an analysis, from the mover's view; what is not known is None.

    move: its action. visits: simulations through it. prior: its probability by the network alone, 0 .. 1.
    win: chance to win, 0 .. 1. score: margin in points. line: the expected line of play, as actions, this one first.
    """

    move: int
    visits: int
    prior: float
    win: float | None
    score: float | None
    line: list[int]


class AnalysisView(TypedDict):
    """What a search has found about a position; scores and ownership are None if the network does not forecast them.

    mover: who is to play, +1 or -1. visits: simulations, the position's own evaluation included.
    win, score: Black's chance to win, 0 .. 1, and margin in points, after the best move if it has visits.
    mean: Black's chance to win and margin, as means of all simulations. moves: the best first.
    An engine to which all moves are alike (their priors are equal) plays random games: `win` and `mean` are None while
    there are too few of them.
    ownership: a number for each point: 100 if it is sure to become Black's, -100 if it is sure to become White's.
    """

    mover: int
    visits: int
    win: float | None
    score: float | None
    mean: tuple[float, float | None] | None
    moves: list[MoveView]
    ownership: list[int] | None


class NodeView(TypedDict):
    """A node of the tree of variations: its number, its parent's (-1 for the root), and the move between them."""

    node: int
    parent: int
    move: int
    mover: int


class EvaluationView(TypedDict):
    """What is known of a node.

    win, score: Black's chance to win, 0 .. 1, and margin in points, after the best move.
    mean: the same two by whichever search says more of the move that led here, that of the node or that of its parent.
        What the move loses is the difference between win and score before it and `mean`.
    rough: whether few visits say what the move loses.
    """

    node: int
    win: float | None
    score: float | None
    mean: tuple[float, float | None] | None
    rough: bool


class ResultView(TypedDict):
    """How a game ended.

    text: such as "Black wins by resignation". winner: +1 or -1; 0 for a draw. short: such as "B+R" or "draw".
    """

    text: str
    winner: int
    short: str


class CountView(TypedDict):
    """The count of a game that ended by two passes.

    text: such as "B 41 + 0, W 33 + 7.5: B+0.5". points, bonuses: Black's and White's.
    owners: "X" for Black's points, "O" for White's, "." for neither's, by cell. dead: the cells of dead stones.
    engine: the result of the engine's own count if it is another one, else "".
    """

    text: str
    points: tuple[int, int]
    bonuses: tuple[float, float]
    owners: str
    dead: list[int]
    engine: str


class StateMessage(TypedDict):
    """What may have changed: the board, the new nodes, who plays, how strong, and what is going on.

    node: the node on the board. view: its position, see `alphago.ui.web.views`.
    line: the numbers of the current line's nodes.
    count: None unless the stones are counted; clicks then turn groups dead or alive.
    added, evaluations: the nodes that the page has not been told of, and what is known of them.
    players: Black's and White's. strength: see `Strength`.
    opponent: how strong the level "even" takes the person to be; "" if unknown.
    teach: a person's move that loses more points is explained; None for no move.
    lesson: whether such a move is on the board, after which the engine waits for "undo" or "move".
    busy: what the engine is doing; "" for nothing. link: a link to the position.
    """

    type: Literal["state"]
    node: int
    line: list[int]
    view: dict[str, Any]
    over: bool
    result: ResultView | None
    count: CountView | None
    added: list[NodeView]
    evaluations: list[EvaluationView]
    players: list[str]
    strength: dict[str, Any]
    opponent: str
    teach: float | None
    lesson: bool
    study: bool
    analysing: bool
    busy: Purpose | Literal[""]
    analysis: AnalysisView | None
    comment: str
    link: str


class ThinkingMessage(TypedDict):
    """What a search has found so far.

    node: the node of the position that is searched. readouts, limit: simulations so far, and at most.
    rate: simulations a second. left: how many positions are to be searched after this one.
    evaluations: of the node and its children.
    """

    type: Literal["thinking"]
    node: int
    purpose: Purpose
    readouts: int
    limit: int | None
    rate: int
    analysis: AnalysisView
    evaluations: list[EvaluationView]
    left: int


class NoticeMessage(TypedDict):
    """A sentence to show: a "hint", an "error", or "refused" before the server closes the connection."""

    type: Literal["notice"]
    kind: Literal["hint", "error", "refused"]
    text: str


class WhyMessage(TypedDict):
    """Why a move is good or bad.

    node: the position before the move. move, best: the move, and the best move there.
    points, rate: what the move loses against the best one, for its player, in points and win rate; points are None if
        the network does not forecast them.
    sentences: the facts, in order.
    """

    type: Literal["why"]
    node: int
    move: int
    best: int
    points: float | None
    rate: float
    sentences: list[str]


class HeadlineView(TypedDict):
    """What one wants to know first about a run.

    strength: the latest result against its hardest opponent; "" before any match. progress: how far it is, as text.
    share: the part of its games, or of its time, that is over, 0 .. 1.
    """

    strength: str
    progress: str
    share: float


def check_message(message: object) -> Message:
    """Return a message of the page; raise ValueError if it is no object with a type."""
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ValueError(f"a message must be an object with a type, got {shown(message)}")
    return message


def why_message(node: int, explanation: Explanation) -> WhyMessage:
    """Return an explanation for the page; node: the position before the move."""
    loss = explanation.loss
    return {
        "type": "why",
        "node": node,
        "move": explanation.action,
        "best": loss.best if loss.worse else explanation.action,  # the move itself: no better one is named
        "points": round_known(loss.points, 1),
        "rate": round(loss.rate, 4),
        # Of a worse move the page itself tells the loss and the better move, so the sentences leave them out.
        "sentences": explanation.reasons if loss.worse else str(explanation).split("\n"),
    }


def analysis_view(analysis: Analysis) -> AnalysisView:
    """Return the analysis of one position for the page: in Black's view, but its moves in the mover's view.

    analysis: in the mover's view.
    """
    mover = int(analysis.to_play[0])
    owners = analysis.ownership
    visits, least = int(analysis.root_visits[0]), least_visits(analysis.prior[0])
    # `moves` lists the visited moves, then others by prior: this many are all visited or likely ones.
    seen = analysis.visits[0] > 0
    count = int(seen.sum()) + likely(analysis.prior[0][~seen])
    moves = [move_view(move, least) for move in analysis.moves(0, least=count)[:MOST_MOVES]]
    mean = (  # over all simulations
        round((1 + mover * float(analysis.value[0])) / 2, 4),
        round_known(mover * float(analysis.root_score[0]), 1),
    )
    best_value, best_score = (mover * float(values[0]) for values in analysis.root_readings)  # of the best move
    best = (round((1 + best_value) / 2, 4), round_known(best_score, 1))
    best_is_known = least == 0 or (bool(moves) and moves[0]["win"] is not None)
    win, points = best if best_is_known else mean
    has_values = visits >= least
    return {
        "mover": mover,
        "visits": visits,
        "win": win if has_values else None,
        "score": points if has_values else None,
        "mean": mean if has_values else None,
        "moves": moves,
        "ownership": None if owners is None else np.rint(100 * mover * owners[0]).astype(int).ravel().tolist(),
    }


def likely(prior: np.ndarray) -> int:
    """Return how many of some moves are sent for their priors; none is left out that is like the last one sent."""
    ranked = np.sort(prior)[::-1]
    is_sent = ranked >= SMALL_PRIOR
    is_sent[1:] |= ranked[1:] >= ALIKE * ranked[:-1]
    return int(np.logical_and.accumulate(is_sent).sum())


def least_visits(prior: np.ndarray) -> int:
    """Return how many visits a value must have to be shown: 0 unless all legal moves have the same prior."""
    priors = prior[prior > 0]
    return LEAST_VISITS if len(priors) > 1 and priors.min() == priors.max() else 0


def move_view(move: MoveAnalysis, least: int) -> MoveView:
    """Return a move of an analysis for the page, in the mover's view; with fewer than `least` visits without values."""
    is_known = move.visits >= least
    return {
        "move": move.action,
        "visits": move.visits,
        "prior": round(move.prior, 4),
        "win": round_known(move.win_rate, 4) if is_known else None,
        "score": round_known(move.score, 1) if is_known else None,
        "line": list(move.line),
    }


def round_known(number: float, digits: int) -> float | None:
    """Return a number rounded to some digits; None for NaN."""
    return None if math.isnan(number) else round(number, digits) + 0.0  # makes -0.0 a 0.0

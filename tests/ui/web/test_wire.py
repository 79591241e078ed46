"""What is said of an analysis: values of few random games are not known, and a move has one loss."""

from typing import Any

import numpy as np
import pytest
from alphago.ui.web.wire import LEAST_VISITS, AnalysisView, analysis_view, likely

from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.analysis import analyze
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.playout_evaluator import PlayoutEvaluator
from alphago.ui.web.game_tree import GameTree
from tests.ui.web.desks import GO5

BLACK, WHITE = 1, -1


@pytest.mark.parametrize("readouts", [1, LEAST_VISITS - 2, LEAST_VISITS - 1, 400])
def test_values_of_few_random_games_are_not_known(readouts: int) -> None:
    """Nine moves share 49 games: the position's value is then the mean of all; after 400 the best one's."""
    env = TicTacToeEnv()
    view = analysis_view(analyze([env.position()], PlayoutEvaluator(env, seed=1), readouts, threads=1))
    known = [move["win"] is not None for move in view["moves"]]
    assert known == [move["visits"] >= LEAST_VISITS for move in view["moves"]]
    assert any(known) == (readouts == 400)
    if readouts < LEAST_VISITS - 1:
        assert (view["win"], view["mean"]) == (None, None)
    else:
        assert view["mean"] is not None
        assert view["win"] == (view["moves"][0]["win"] if known[0] else view["mean"][0])


@pytest.mark.parametrize(
    ("priors", "sent"),
    [
        ([0.98, 0.0053, 0.005, 0.0036, 0.0001], 4),  # four moves alike on an empty board, one of them below the limit
        ([0.0001, 0.0036, 0.98, 0.0053, 0.005], 4),
        ([0.9, 0.09, 0.002], 2),
        ([0.004, 0.004], 0),
        ([], 0),
    ],
)
def test_no_move_is_left_out_that_is_like_one_that_is_sent(priors: list[float], sent: int) -> None:
    assert likely(np.array(priors)) == sent


def test_a_network_knows_without_a_search() -> None:
    view = analysis_view(analyze([GO5.position()], HashEvaluator(), 0, threads=1))
    assert view["win"] is not None
    assert view["mean"] is not None


def analysis(mover: int, win: float, score: float, moves: dict[str, tuple[int, float, float]]) -> AnalysisView:
    """What a search says: Black's chance and lead, and of each move visits, and chance and lead of who plays it."""
    listed: list[Any] = [
        {"move": GO5.from_text(name), "visits": visits, "prior": 0.1, "win": rate, "score": points, "line": []}
        for name, (visits, rate, points) in moves.items()
    ]
    visits = 1 + sum(move["visits"] for move in listed)
    return AnalysisView(
        mover=mover, visits=visits, win=win, score=score, mean=(win, score), moves=listed, ownership=None
    )


# By what is said of Black's D4, before and after it: Black's chance and lead after it, and whether few visits say so.
AFTER = [
    ("C3 90 0.6 2, D4 9 0.5 0", 60, (0.4, -1.0), False),  # more visits after the move
    ("C3 90 0.6 2, D4 70 0.5 0", 60, (0.5, 0.0), False),  # more visits before it
    ("D4 55 0.6 2, C3 40 0.6 2", 60, (0.6, 2.0), False),  # the best move loses nothing
    ("C3 90 0.6 2", 1, (0.4, -1.0), True),
    ("C3 9 0.6 2", 60, (0.4, -1.0), True),
    ("", 60, (0.4, -1.0), True),
]


def before_and_after(before: str, visits: int) -> list[AnalysisView]:
    """Two searches, of the empty board and after D4."""
    rows = [row.split() for row in before.split(", ") if row]
    moves = {name: (int(count), float(win), float(score)) for name, count, win, score in rows}
    return [
        analysis(BLACK, 0.6, 2, moves),
        analysis(WHITE, 0.4, -1, {"A1": (visits - 1, 0.6, 1)} if visits > 1 else {}),
    ]


@pytest.mark.parametrize(("before", "visits", "after", "rough"), AFTER)
def test_what_a_move_leads_to(before: str, visits: int, after: tuple[float, float], rough: bool) -> None:
    tree = GameTree(GO5, GO5.position())
    tree.play("D4")
    for node, found in zip(tree.nodes, before_and_after(before, visits), strict=True):
        node.remember(found)
    assert tree.after_move(1) == (after, rough)
    assert tree.after_move(0) == ((0.6, 2), False)

"""`analyze`: every array against a recount of the tree in plain Python, and what it does with one position or many."""

import threading

import numpy as np
import pytest

from alphago import ConnectFourEnv, GoEnv, Gumbel, NeuralNet, Position, Puct, analyze, iter_analysis
from alphago.mcts.analysis import evaluate_alone
from alphago.mcts.analysis_result import DEVIATIONS
from alphago.mcts.evaluator import AveragedEvaluator, HashEvaluator, UniformEvaluator
from alphago.mcts.kernels.nodes import ROOT
from alphago.mcts.search import Forbidden, Search
from alphago.mcts.tree_reading import read_analysis
from tests.mcts.trees import children, run, search_from

GO5 = GoEnv(5, komi=0.5)
OPEN = GO5.position("C3 D3", "C4 D4 B2")
NEAR_END = GO5.position("A2 B2 C2 D2 E2", "A4 B4 C4 D4 E4")


class HashForecaster(HashEvaluator):
    """An evaluator whose scores and ownership follow from the position's hash too; symmetries are counted."""

    makes_forecasts = True

    def __init__(self) -> None:
        self.symmetries: list[tuple[int, ...]] = []
        self.calls: list[int] = []

    def evaluate(self, batch, slots, priors, values, forecasts=None, symmetries=(0,)) -> None:
        self.symmetries.append(tuple(symmetries))
        self.calls.append(len(slots))
        super().evaluate(batch, slots, priors, values)
        if forecasts is not None:
            for i, number in enumerate(batch.hash(slots, np.empty(len(slots), np.int64)).tolist()):
                forecasts[0][i] = number % 41 - 20
                forecasts[1][i] = (np.arange(number % 97, number % 97 + forecasts[1].shape[1]) % 11 - 5) / 5


def searched(position: Position, readouts: int, leaves: int = 1, gumbel: bool = False) -> Search:
    settings = Gumbel(leaves=leaves, considered=6) if gumbel else Puct(leaves=leaves)
    search = search_from([position], HashForecaster(), settings)
    run(search, readouts)
    return search


def ends(search: Search, node: int) -> list[tuple[int, int]]:
    """Return (node, number of simulations that ended there) of a node and all below it."""
    below, visits = children(search.tree, 0, node).values(), search.tree.visits[0]
    own = int(visits[node] - visits[list(below)].sum())
    return [(node, own)] + [pair for child in below for pair in ends(search, child)]


def moments(search: Search, node: int, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of numbers [N, ...] over the simulations below a node, the root's view."""
    mover = search.tree.mover[0]
    rows = [
        numbers[end].astype(float) * mover[end] * mover[ROOT] for end, count in ends(search, node) for _ in range(count)
    ]
    return np.mean(rows, axis=0), np.std(rows, axis=0)


@pytest.mark.parametrize("side", ["as_black", "as_white", ""])
def test_no_move_reads_better_than_the_best_as_which_its_position_reads(side: str) -> None:
    """That one is played, the most visited one; a better value comes from fewer visits."""
    found = analyze([OPEN, OPEN.play("A1")], HashForecaster(), 60, threads=1)
    assert any((found.q[i] > found.q[i, found.best(i)]).any() for i in range(2))  # as the search has counted them
    seen = getattr(found, side)() if side else found
    assert (np.abs(seen.root_readings[0] - seen.value) > 1e-3).any()
    for i, (value, score) in enumerate(zip(*seen.root_readings, strict=True)):
        best, *others = seen.moves(i)
        assert (best.action, best.action, best.q, best.score) == (seen.best(i), seen.leading[i], value, score)
        sign = 1 if seen.views is None else seen.views[i]
        for move in others:
            for name, limit in (("q", best.q), ("score", best.score), ("lower_bound", best.win_rate)):
                assert sign * getattr(move, name) <= sign * limit


@pytest.mark.parametrize(("position", "readouts"), [(OPEN.play("A1"), 0), (NEAR_END.play("pass").play("pass"), 5)])
def test_without_visits_a_position_reads_as_the_network_or_the_result(position: Position, readouts: int) -> None:
    for found in (one := analyze(position, HashForecaster(), readouts), one.as_black(), one.as_white()):
        assert found.root_readings == (found.value, found.root_score)


@pytest.mark.parametrize(
    ("position", "readouts", "leaves", "gumbel"),
    [(OPEN, 120, 1, False), (OPEN, 120, 6, False), (NEAR_END.play("pass"), 200, 4, False), (OPEN, 64, 1, True)],
    ids=["one leaf", "six leaves", "near the end", "gumbel"],
)
def test_every_number_is_that_of_the_tree(position: Position, readouts: int, leaves: int, gumbel: bool) -> None:
    search = searched(position, readouts, leaves, gumbel)
    found, tree = read_analysis(search, move_ownership=True), search.tree
    assert found.visits.sum() + 1 == found.root_visits[0]
    assert {found.value.dtype, found.q.dtype} == {np.dtype(np.float32)}
    values, scores, owners = tree.value[0], tree.score[0], tree.owners[0] / 127
    assert found.value[0] == pytest.approx(moments(search, ROOT, values)[0], abs=1e-5)
    assert (found.root_score[0], found.root_score_stdev[0]) == pytest.approx(moments(search, ROOT, scores), abs=1e-3)
    mean, stdev = moments(search, ROOT, owners)
    assert found.ownership[0].ravel() == pytest.approx(mean, abs=1e-4)
    assert found.ownership_stdev[0].ravel() == pytest.approx(stdev, abs=1e-3)
    for action in np.flatnonzero(found.visits[0]):
        child = children(tree, 0, ROOT)[action]
        assert found.q[0, action] == pytest.approx(moments(search, child, values)[0], abs=1e-5)
        assert (found.score[0, action], found.score_stdev[0, action]) == pytest.approx(
            moments(search, child, scores), abs=1e-3
        )
        assert found.move_ownership[0, action].ravel() == pytest.approx(moments(search, child, owners)[0], abs=1e-4)
        count, (mean_q, spread) = found.visits[0, action], moments(search, child, values)
        if count > 30:  # the prior's weight is 1 / count^2
            assert found.lower_bound[0, action] == pytest.approx(
                (1 + mean_q - DEVIATIONS * spread / np.sqrt(count)) / 2, abs=0.02
            )


def test_a_lower_bound_is_cautious_with_few_visits() -> None:
    found = read_analysis(searched(OPEN, 300))
    moves = found.moves()
    assert all(move.lower_bound < move.win_rate for move in moves)
    once = [move for move in moves if move.visits == 1]
    assert once
    assert all(move.win_rate - move.lower_bound > 0.5 for move in once)


def test_lines_are_the_most_visited_moves() -> None:
    search = searched(OPEN, 400)
    found = read_analysis(search, plies=5)
    best = found.moves()[0]
    assert (best.action, best.line[0], best.line_visits[0]) == (found.visits[0].argmax(), best.action, best.visits)
    assert list(best.line_visits) == sorted(best.line_visits, reverse=True)
    OPEN.after(best.line)  # raises for an illegal one
    search.advance(np.zeros(1, np.int64), np.array([best.action], np.int32))
    below = read_analysis(search, plies=4)
    assert best.line[1] in np.flatnonzero(below.visits[0] == below.visits[0].max())
    assert below.moves()[0].line_visits == best.line_visits[1:]


@pytest.mark.parametrize("leaves", [1, 4])
def test_scores_stay_with_their_nodes_when_a_move_is_played(leaves: int) -> None:
    search = searched(OPEN, 200, leaves)
    before = read_analysis(search)
    action = before.best()
    search.advance(np.zeros(1, np.int64), np.array([action], np.int32))
    after = read_analysis(search)
    assert after.root_visits[0] == before.visits[0, action]
    assert after.root_score[0] == pytest.approx(-before.score[0, action], abs=1e-3)
    search.run(np.array([50], np.int32))
    score, _ = moments(search, ROOT, search.tree.score[0])
    assert read_analysis(search).root_score[0] == pytest.approx(score, abs=1e-3)


def test_one_and_many_and_ended_games() -> None:
    """Each row is what the position alone gives; a game that is over has its outcome and the board's score."""
    over = NEAR_END.play("pass").play("pass")
    positions = [OPEN, over, OPEN.play("A1"), NEAR_END]
    settings = Puct(leaves=2)
    many = analyze(positions, HashForecaster(), 40, settings=settings, threads=2)
    for i, position in enumerate(positions):
        alone = analyze(position, HashForecaster(), 40, settings=settings)
        for name in ("visits", "prior", "q", "score", "lines", "value", "root_score", "ownership"):
            assert np.array_equal(getattr(many, name)[i], getattr(alone, name)[0], equal_nan=True), name
    assert (many.root_visits[1], many.visits[1].sum(), many.moves(1)) == (0, 0, [])
    assert (many.value[1], many.root_score[1]) == (over.to_play * over.outcome, over.to_play * over.score())
    assert (many.ownership[1][0] == -over.to_play).all()
    with pytest.raises(ValueError, match="its game is over"):
        many.best(1)
    only = analyze([over, over], HashForecaster(), 5)
    assert (len(only), only.root_visits.tolist()) == (2, [0, 0])


def test_threads_change_no_result() -> None:
    positions = [OPEN.play(int(action)) for action in np.flatnonzero(OPEN.legal_mask)]
    found = [analyze(positions, HashForecaster(), 40, settings=Puct(leaves=8), threads=number) for number in (1, 4)]
    assert np.array_equal(found[0].visits, found[1].visits)


def test_the_evaluations_alone() -> None:
    """Without readouts each position is evaluated once, in whole batches."""
    forecaster = HashForecaster()
    positions = [OPEN.play(int(action)) for action in np.flatnonzero(OPEN.legal_mask)[:20]]
    found = analyze(positions, forecaster, 0, threads=1)
    assert forecaster.calls == [20]
    assert (found.visits.sum(), found.root_visits.tolist()) == (0, [1] * 20)
    assert np.array_equal(found.value, found.raw_value)
    assert np.array_equal(found.root_score, found.raw_score)
    assert found.order(3)[0] == found.prior[3].argmax()
    moves = found.moves(3, least=4)
    assert [move.visits for move in moves] == [0] * 4
    assert [move.prior for move in moves] == sorted((move.prior for move in moves), reverse=True)
    assert moves[0].line == (moves[0].action,)
    assert np.isnan(moves[0].win_rate)


def test_the_view_of_black() -> None:
    white = OPEN.play("A1")
    own = analyze([OPEN, white], HashForecaster(), 60)
    black = own.as_black()
    assert own.to_play.tolist() == [1, -1]
    for name in ("q", "score", "value", "raw_value", "root_score", "raw_score", "ownership", "raw_ownership"):
        mine, turned = getattr(own, name), getattr(black, name)
        assert np.array_equal(turned, np.stack([mine[0], -mine[1]]), equal_nan=True), name
    assert black.win_rate[1] == pytest.approx(1 - own.win_rate[1], nan_ok=True)
    assert black.lower_bound[1] == pytest.approx(1 - own.lower_bound[1], nan_ok=True)
    assert np.array_equal(black.score_stdev, own.score_stdev, equal_nan=True)
    for again in (black.as_black(), own.as_white().as_black()):
        assert again.value.tolist() == black.value.tolist()
        assert (again.leading.tolist(), again.views.tolist()) == (own.leading.tolist(), [1, -1])
    assert [found.describe(1).splitlines()[0].split()[-1] for found in (own, black)] == ["White", "Black"]


class TestForbidden:
    def test_avoid_and_allow(self) -> None:
        best = analyze(OPEN, HashForecaster(), 60).best()
        without = analyze(OPEN, HashForecaster(), 60, avoid=[best])
        assert without.visits[0, best] == 0
        assert without.prior[0, best] > 0  # the network's own
        only = analyze(OPEN, HashForecaster(), 60, allow="A1, b1")
        assert set(np.flatnonzero(only.visits[0])) <= {GO5.from_text("A1"), GO5.from_text("B1")}
        assert only.visits.sum() == 60

    def test_below_the_root(self) -> None:
        """Rules for both players, each to its own depth."""
        points = frozenset(range(10))
        rules = [Forbidden(1, points, 3), Forbidden(-1, frozenset([24]), 2)]
        search = Search(GO5, HashForecaster(), 1, Puct())
        search.start(0, OPEN, rules)
        search.run(np.array([400], np.int32))
        tree, depths, seen = search.tree, {ROOT: 0}, set()
        for node in range(1, int(tree.used[0])):
            parent, action = int(tree.parent[0, node]), int(tree.action[0, node])
            depths[node] = depths[parent] + 1
            if tree.visits[0, node]:
                for rule in rules:
                    if tree.mover[0, parent] == rule.player and action in rule.actions:
                        assert depths[parent] >= rule.plies
                        seen.add(rule)
        assert seen == set(rules)  # deeper down these moves are tried

    def test_what_cannot_be(self) -> None:
        everything = list(range(26))
        for options, sentence in (
            ({"avoid": everything}, "a legal move must be left to search"),
            ({"avoid": "Z9"}, "avoid must be moves: 'Z9' is not a point"),
            ({"allow": [99]}, "allow must be actions from 0 to 25, got 99"),
            ({"avoid": "A1", "allow": "A2"}, "avoid and allow must not be given together"),
            ({"avoid": "A1", "depth": 0}, "depth must be an integer >= 1"),
        ):
            with pytest.raises(ValueError, match=sentence):
                analyze(OPEN, HashForecaster(), 5, **options)

    def test_they_end_with_the_next_start(self) -> None:
        search = Search(GO5, HashForecaster(), 1, Puct())
        search.start(0, OPEN, [Forbidden(1, frozenset([0, 1, 2]))])
        search.run(np.array([30], np.int32))
        search.start(0, OPEN)
        search.run(np.array([60], np.int32))
        assert np.array_equal(read_analysis(search).visits, analyze(OPEN, HashForecaster(), 60, settings=Puct()).visits)


def test_growing_results() -> None:
    settings = Puct(leaves=1)
    grown = [*iter_analysis([OPEN, NEAR_END], HashForecaster(), 90, every=0.001, settings=settings, threads=1)]
    visits = [found.root_visits.min() for found in grown]
    assert (visits[0], visits[-1]) == (1, 91)
    assert visits == sorted(visits)
    assert np.array_equal(grown[-1].visits, analyze([OPEN, NEAR_END], HashForecaster(), 90, settings=settings).visits)
    with pytest.raises(ValueError, match="every must be a number > 0 and <= 9"):
        iter_analysis(OPEN, HashForecaster(), 1, every=1e10)


def test_stop_ends_a_search_of_any_length() -> None:
    stop = threading.Event()
    growing = iter_analysis(OPEN, HashForecaster(), 10_000_000, every=0.01, stop=stop)
    assert next(growing).root_visits[0] == 1
    assert any(found.root_visits[0] > 1 for found in growing)  # on a busy machine not the next one
    stop.set()
    assert [*growing][-1].root_visits[0] < 10_000_000  # it yields until a thread has seen the stop
    assert analyze(OPEN, HashForecaster(), 10_000_000, stop=stop).root_visits[0] == 1


def test_symmetries_reach_the_network() -> None:
    forecaster = HashForecaster()
    analyze(OPEN, forecaster, 0, symmetries=True)
    assert set(forecaster.symmetries) == {tuple(range(8))}
    forecaster.symmetries.clear()
    forecaster.makes_forecasts = False  # a network without these heads
    evaluate_alone([OPEN], AveragedEvaluator(forecaster, GO5, [3]))
    assert forecaster.symmetries == [(3,)]
    with pytest.raises(ValueError, match="symmetries must be False without a network, got HashEvaluator"):
        analyze(OPEN, HashEvaluator(), 0, symmetries=True)


def test_other_games_and_evaluators_without_forecasts() -> None:
    env = ConnectFourEnv()
    found = analyze(env.position(), UniformEvaluator(), 50)
    assert found.visits.sum() == 50
    assert (found.ownership, found.has_scores) == (None, False)
    assert np.isnan(found.score).all()
    assert "D" in found.describe()
    assert analyze(env.position(), lambda position: (np.ones(7), 0.25), 0).raw_value[0] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("positions", "error", "sentence"),
    [
        ([], ValueError, "positions must be one or more"),
        ([OPEN, GoEnv(7).position()], ValueError, "positions must be of one game"),
        (["A1"], TypeError, "positions must be Positions"),
    ],
)
def test_positions(positions: list, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        analyze(positions, HashForecaster(), 1)


@pytest.mark.parametrize("readouts", [0, 8])
def test_a_network_reads_its_own_planes(readouts: int) -> None:
    """A position of a game with other planes is read as the same one of the network's game."""
    net = NeuralNet(GoEnv(5, 5), tower_height=1, channels=4)
    own, other = (GoEnv(size, planes).position().play("C3").play("B2") for size, planes in ((5, 5), (5, None)))
    found, expected = (analyze(position, net, readouts) for position in (other, own))
    np.testing.assert_array_equal(found.visits, expected.visits)
    np.testing.assert_array_equal(found.raw_value, expected.raw_value)
    assert analyze(GoEnv(4).position(), net, readouts).env == GoEnv(4, 5)

"""The search rules of examples/rules: each beside the formulas of its paper in plain Python, and each plays."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from breadth_first import BreadthFirst
from no_search import NoSearch, Regularized
from paper_puct import PaperPuct
from tree_free import TreeFree

from alphago import GoEnv, Position, evaluate, selfplay
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import HashEvaluator, UniformEvaluator
from tests.mcts.trees import improved, random_position, run, search_from
from tests.naive.puct import NaiveSearch, Node, one_by_one

EVALUATE = one_by_one(HashEvaluator())
RULES = {  # by name: the settings and the readouts
    "paper": (PaperPuct(decisive_moves=False), 40),
    "tree-free": (TreeFree(decisive_moves=False, leaves=8), 12),
    "breadth-first": (BreadthFirst(decisive_moves=False, leaves=16), 16),
    "no search": (NoSearch(), 1),
}
GAMES = np.arange(3)


@pytest.fixture(params=[TicTacToeEnv(), GoEnv(4, komi=0.5)], ids=["tic-tac-toe", "go"])
def positions(request: pytest.FixtureRequest) -> list[Position]:
    random = np.random.default_rng(2)
    return [random_position(request.param, plies, random) for plies in (0, 2, 4)]


@pytest.mark.parametrize("name", RULES)
def test_it_plays(name: str) -> None:
    """Games of self-play have legal moves, depend on the seed alone, and differ from each other."""
    settings, readouts = RULES[name]
    games = [
        selfplay(TicTacToeEnv(), HashEvaluator(), readouts, search=settings, num_games=8, seed=seed)
        for seed in (0, 0, 1)
    ]
    moves = [[record.moves.tolist() for record in records] for records in games]
    assert moves[0] == moves[1] != moves[2]
    assert len({tuple(game) for game in moves[0]}) > 1
    policies = np.concatenate([record.policies[record.weights > 0] for record in games[0]])
    assert np.allclose(policies.sum(axis=1) / 65535, 1, atol=1e-3)


@pytest.mark.parametrize("name", ["paper", "tree-free", "breadth-first"])
def test_it_wins_at_once(name: str) -> None:
    """X on two of a row; nothing is known of the moves but what the search finds."""
    settings, readouts = RULES[name]
    env = TicTacToeEnv()
    position = env.position().after([0, 3, 1, 4])
    search = search_from([position], UniformEvaluator(), settings)
    run(search, readouts)
    assert search.choose(np.zeros(1, np.int64), np.zeros(1, np.bool_), np.zeros(1)).tolist() == [2]
    match = evaluate(env, UniformEvaluator(), "random", 40, readouts, search=(settings, "puct"))
    assert match.wins > 2 * match.losses


class NaivePaper(NaiveSearch):
    """The pseudocode's ucb_score (Silver et al. 2018)."""

    def score(self, node: Node, action: int) -> float:
        child = node.children.get(action)
        on_the_way = 0 if child is None else child.virtual
        tried = on_the_way + (0 if child is None else child.visits)
        visits = node.visits + node.virtual
        explore = (math.log((visits + 19652 + 1) / 19652) + 1.25) * math.sqrt(visits) / (tried + 1)
        mean = (node.mover * float(child.black_sum) - on_the_way) / tried if child is not None and tried else 0.0
        return mean + explore * float(node.priors[action])


@pytest.mark.parametrize("leaves", [1, 4])
def test_the_papers_formula(positions: list[Position], leaves: int) -> None:
    search = search_from(positions, HashEvaluator(), PaperPuct(decisive_moves=False, leaves=leaves))
    visits = run(search, 50)
    for position, found in zip(positions, visits, strict=True):
        naive = NaivePaper(position, EVALUATE, leaves=leaves)
        naive.run(50)
        assert found.tolist() == naive.visits().tolist()


def value_of(position: Position) -> float:
    """The value of a position in its mover's view, by the evaluator, or by the rules if it is over."""
    if position.is_over:
        return float(position.batch.outcome(np.zeros(1, np.int64), np.empty(1, np.float32))[0])
    return float(EVALUATE(position)[1])


@pytest.mark.parametrize("leaves", [8, 1, 3])
def test_two_batches(positions: list[Position], leaves: int) -> None:
    """Eight actions, the likeliest reply to the best four, and the policy of Gumbel search; however large waves are."""
    search = search_from(positions, HashEvaluator(), TreeFree(decisive_moves=False, leaves=leaves))
    visits = run(search, 30)
    policies, actions = improved(search, GAMES)
    for row, position in enumerate(positions):
        priors, value = EVALUATE(position)
        with np.errstate(divide="ignore"):
            logits = np.log(priors)
        first = np.argsort(-priors, kind="stable")[: min(8, np.count_nonzero(priors))]
        q = {action: -value_of(position.play(int(action))) for action in first}
        best = sorted(first, key=lambda action: -(logits[action] + 51 / 2 * q[action]))[:4]
        for action in best:
            after = position.play(int(action))
            reply = q[action] if after.is_over else value_of(after.play(int(EVALUATE(after)[0].argmax())))
            q[action] = (q[action] + reply) / 2
        counts = {action: 1 + (action in best) for action in first}
        assert {action: int(visits[row, action]) for action in np.flatnonzero(visits[row])} == counts
        known = sum(priors[action] for action in first)
        mixed = (value + sum(counts.values()) * sum(priors[a] * q[a] for a in first) / known) / (
            1 + sum(counts.values())
        )
        completed = np.full(len(priors), mixed)
        completed[list(q)] = list(q.values())
        scores = logits + 52 / 2 * completed
        wanted = np.exp(scores - scores.max())
        assert policies[row] == pytest.approx(wanted / wanted.sum(), abs=1e-4)
        assert actions[row] == scores.argmax()


def in_breadth(position: Position, visits: int, offset: float, c: float) -> tuple[float, dict[int, float]]:
    """The value and policy of RMCTS, recursively as in the paper; u by halving intervals."""
    if position.is_over or visits == 1:
        return value_of(position), {}
    priors, value = EVALUATE(position)
    shares, dealt = {}, offset
    for action in np.flatnonzero(priors):
        after = dealt + (visits - 1) * float(priors[action])
        if count := math.floor(after) - math.floor(dealt):
            shares[int(action)] = count
        dealt = after
    q = {}
    for action, count in shares.items():
        after = position.play(action)
        sign = 1 if after.to_play == position.to_play else -1
        q[action] = sign * in_breadth(after, count, offset, c)[0]
    weight = c / math.sqrt(visits - 1)
    low, high = max(q.values()), max(q.values()) + weight
    for _ in range(100):
        u = (low + high) / 2
        low, high = (u, high) if sum(weight * priors[a] / max(u - q[a], 1e-300) for a in q) > 1 else (low, u)
    policy = {action: weight * float(priors[action]) / (u - q[action]) for action in q}
    mean = sum(policy[action] * q[action] for action in q)
    return (float(value) + (visits - 1) * mean) / visits, policy


@pytest.mark.parametrize("leaves", [16, 1])
def test_in_breadth(positions: list[Position], leaves: int) -> None:
    search = search_from(positions, HashEvaluator(), BreadthFirst(decisive_moves=False, leaves=leaves))
    waves = count_waves(search, 30)
    policies = search.rule.policies(search.tree, GAMES)
    assert waves <= 8 or leaves == 1  # a wave a level
    for position, found in zip(positions, policies, strict=True):
        _, wanted = in_breadth(position, 31, 0.5, 0.96)
        assert {action: float(found[action]) for action in np.flatnonzero(found)} == pytest.approx(wanted, abs=1e-4)


def count_waves(search, readouts: int) -> int:
    """Search, and return the number of batches that were evaluated, without those of the roots."""
    count = 0
    evaluate_wave: Callable[..., None] = search._evaluate

    def counted(*arguments: int, **named: int) -> None:
        nonlocal count
        count += 1
        evaluate_wave(*arguments, **named)

    search.expand_roots(GAMES)
    search._evaluate = counted
    run(search, readouts)
    return count


def test_two_batches_are_two() -> None:
    positions = [TicTacToeEnv().position()] * 3
    search = search_from(positions, HashEvaluator(), TreeFree(decisive_moves=False, leaves=8))
    assert count_waves(search, 12) == 2


def test_without_search(positions: list[Position]) -> None:
    """The policy is the network's, and the target moves towards the move played as far as it gained."""
    search = search_from(positions, HashEvaluator(), NoSearch())
    assert not run(search, 5).any()
    priors = np.stack([EVALUATE(position)[0] for position in positions])
    assert search.rule.policies(search.tree, GAMES) == pytest.approx(priors)
    (record,) = selfplay(positions[0].env, HashEvaluator(), 1, search=NoSearch(), seed=0)
    targets = Regularized(alpha=0.5, beta=0.5, search_share=0.0)
    played, mover = int(record.moves[1]), int(record.movers[1])
    before = record.policies[1] / record.policies[1].sum()
    wanted = np.sqrt(before)
    wanted[played] *= math.exp(record.outcome * mover - record.values[1])
    assert targets.policies([record], [1])[0] == pytest.approx(wanted / wanted.sum(), abs=1e-3)


def test_they_are_short() -> None:
    files = (Path(__file__).parents[2] / "examples" / "rules").glob("*.py")
    assert max(len(path.read_text("utf-8").splitlines()) for path in files) <= 150

"""What a gradient step shows of the network, what an iteration's games were like, and where its time went."""

import numpy as np
import pytest
import torch

from alphago import GameEnv, GoEnv, OwareEnv, selfplay
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.nn.loss import ILLEGAL
from alphago.training import metrics
from alphago.training.metrics import STEP_METRICS, WORK
from tests.training.small_runs import GO


def test_pearson() -> None:
    assert metrics.pearson(torch.tensor([1.0, 2, 3]), torch.tensor([2.0, 4, 6])) == pytest.approx(1)
    assert metrics.pearson(torch.tensor([1.0, 2, 3]), torch.tensor([3.0, 2, 1])) == pytest.approx(-1)
    assert metrics.pearson(torch.tensor([1.0, 2, 3, 4]), torch.tensor([1.0, -1, -1, 1])) == pytest.approx(0, abs=1e-6)
    assert metrics.pearson(torch.ones(3), torch.tensor([3.0, 2, 1])) == 0


def test_measure() -> None:
    """Two moves of four, evenly; the network is even over all four and right about the first of two best moves."""
    logits = torch.tensor([[0.0, 0, 0, 0], [9.0, 0, 0, 0]])
    policy = torch.tensor([[0.5, 0.5, 0, 0], [0.0, 1, 0, 0]])
    measured = metrics.measure(logits, torch.tensor([0.5, -0.5]), policy, torch.tensor([1.0, -1]))
    assert measured["target_entropy"] == pytest.approx(np.log(2) / 2)
    assert measured["policy_entropy"] == pytest.approx(np.log(4) / 2, abs=0.01)
    assert measured["top_move_agreement"] == 0.5
    assert measured["value_correlation"] == pytest.approx(1)


def test_actions_that_are_left_out() -> None:
    """The same as without them, whatever their logits."""
    logits, value = torch.tensor([[1.0, 0.5, 9.0], [0.0, 2.0, 1.0]]), torch.tensor([0.5, -0.5])
    target = torch.tensor([[0.75, 0.25, ILLEGAL], [ILLEGAL, 0.5, 0.5]])
    found = metrics.measure(logits, value, target, value)
    alone = metrics.measure(
        torch.tensor([[1.0, 0.5], [2.0, 1.0]]), value, torch.tensor([[0.75, 0.25], [0.5, 0.5]]), value
    )
    assert {name: float(one) for name, one in found.items()} == pytest.approx(
        {name: float(one) for name, one in alone.items()}
    )
    assert float(found["top_move_agreement"]) == 1


def test_means() -> None:
    """Over the steps that have a metric; None where no step has it."""
    means = metrics.mean_metrics([{"policy_loss": 1.0, "own": 3.0}, {"policy_loss": 2.0}])
    assert means.keys() == {*STEP_METRICS, "own"}
    assert (means["policy_loss"], means["own"], means["ownership_loss"]) == (1.5, 3.0, None)
    assert metrics.mean_metrics([]) == dict.fromkeys(STEP_METRICS)


def test_games() -> None:
    nothing = metrics.game_metrics([], GO)
    assert set(nothing.values()) == {None}
    records = selfplay(GO, HashEvaluator(), 4, 10, device="cpu", seed=0)
    found = metrics.game_metrics(records, GO)
    assert found.keys() == nothing.keys()
    assert found["game_length"] == pytest.approx(np.mean([len(record) for record in records]))
    passes = sum((record.moves == GO.pass_action).sum() for record in records)
    assert found["pass_rate"] == pytest.approx(passes / sum(len(record) for record in records))
    assert found["resignations"] == 0
    assert found["black_wins"] + found["draws"] <= 1  # type: ignore[operator]
    env = TicTacToeEnv()
    assert metrics.game_metrics(selfplay(env, HashEvaluator(), 4, 2, device="cpu", seed=0), env)["pass_rate"] is None


def test_only_games_that_the_limit_ends_are_cut_off() -> None:
    def capped(env: GameEnv) -> float | None:
        return metrics.game_metrics(selfplay(env, HashEvaluator(), 4, 20, device="cpu", seed=0), env)["capped"]

    assert capped(GoEnv(5, max_moves=7)) == 1
    assert capped(GoEnv(5, turns=3)) == 0  # all its games have this length
    assert capped(OwareEnv(max_moves=9)) == 1
    records = selfplay(TicTacToeEnv(), HashEvaluator(), 4, 60, device="cpu", seed=0)
    full = [record for record in records if len(record) == TicTacToeEnv.max_moves]
    assert full, "a game must fill the board, or the next line tests nothing"
    assert metrics.game_metrics(full, TicTacToeEnv())["capped"] == 0


def test_threads_and_the_run() -> None:
    """Ten seconds: six of self-play on two threads, three of gradient steps, one around them."""
    run_seconds = {"playing": 6.0, "optimizer": 3.0, "other": 1.0, "examination": 100.0}
    threads = {"net": 6.0, "tree": 2.0, "boards": 1.0, "games": 1.0}  # the other two of twelve they waited
    shares = metrics.time_shares(run_seconds, threads, 2)
    assert set(shares) == {f"{kind}_share" for kind in WORK}
    assert sum(shares.values()) == pytest.approx(1)
    expected = {"net": 0.3, "tree": 0.1, "boards": 0.05, "games": 0.05, "waiting": 0.1, "optimizer": 0.3, "other": 0.1}
    assert {kind: shares[f"{kind}_share"] for kind in expected} == pytest.approx(expected)
    assert shares["saving_share"] == 0
    assert set(metrics.time_shares({}, {}, 2).values()) == {0.0}


def test_the_bottleneck() -> None:
    row = {"net_share": 0.2, "tree_share": 0.7, "boards_share": 0.1, "selfplay_share": 0.9}
    assert metrics.bottleneck(row) == ("tree", 0.7)
    assert metrics.bottleneck({"seconds": 1, "gpu_busy": None}) is None


def test_means_over_iterations() -> None:
    """Shares of iterations count by their length; the first one only says when the others began."""
    rows = [
        {"seconds": 5.0, "tree_share": 1.0},
        {"seconds": 6.0, "net_share": 0.5, "optimizer_share": 0.4, "tree_share": 0.1},
        {"seconds": 9.0, "net_share": 0.6, "optimizer_share": 0.2, "tree_share": 0.2},
    ]
    shares = metrics.mean_shares(rows)
    assert shares == pytest.approx(dict.fromkeys(WORK, 0.0) | {"net": 2.3 / 4, "optimizer": 0.25, "tree": 0.7 / 4})
    with pytest.raises(ValueError, match="rows must be two or more iterations"):
        metrics.mean_shares(rows[:1])

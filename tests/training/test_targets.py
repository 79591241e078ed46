"""Targets of a run: lambda-returns, and whatever a function makes of a record."""

from pathlib import Path

import numpy as np
import pytest

from alphago import GameRecord, ReplayMemory, selfplay
from alphago.mcts.evaluator import HashEvaluator
from alphago.records.record import POLICY_SCALE
from tests.training.small_runs import GO, run, same


def later_values(record: GameRecord) -> np.ndarray:
    """The search's value two plies later, else the result."""
    return np.append(record.values[2:], record.outcome * record.movers[-2:]).astype(np.float32)


def test_a_function_is_a_rule_of_values() -> None:
    (record,) = selfplay(GO, HashEvaluator(), 8, 1, seed=0, device="cpu", opening_plies=0)
    memory = ReplayMemory(GO, targets=later_values)
    memory.add([record])
    assert memory.entries[0].values.tolist() == later_values(record).tolist()
    sample = memory.sample(50, np.random.default_rng(0))
    assert set(sample.value) <= set(later_values(record))
    policies = memory.targets.policies([record], [0])[0]
    assert policies == pytest.approx(record.policies[0] / POLICY_SCALE, abs=1e-4)


class Torn:
    """Rules that break their contract: a value too few, no number, half of the policies."""

    def values(self, record: GameRecord) -> np.ndarray:
        return np.zeros(len(record))

    def policies(self, records: object, plies: object) -> np.ndarray:
        return np.zeros((1, 3))


def test_rules_that_break_their_contract_are_named() -> None:
    (record,) = selfplay(GO, HashEvaluator(), 8, 1, seed=0, device="cpu", opening_plies=0)
    for wrong in (lambda record: np.zeros(3), lambda record: np.full(len(record), np.nan), lambda record: None):
        with pytest.raises(ValueError, match=f"finite value for each of a game's {len(record)} plies, got "):
            ReplayMemory(GO, targets=wrong).add([record])
    memory = ReplayMemory(GO, targets=Torn())
    memory.add([record])
    with pytest.raises(ValueError, match=r"targets must give finite policies of shape \(2, \d+\), got "):
        memory.sample(2, np.random.default_rng(0))


@pytest.mark.slow
def test_a_run_learns_by_it(tmp_path: Path) -> None:
    assert not same(run(tmp_path / "own", 8, targets=later_values)[0], run(tmp_path / "usual", 8)[0])

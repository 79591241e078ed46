"""Targets by their formulas in plain Python, and what of them comes out of a memory."""

from typing import Any

import numpy as np
import pytest

from alphago.env.game import GameEnv
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.puct import Puct
from alphago.records.record import POLICY_SCALE, GameRecord, RecordBuilder
from alphago.training.call.selfplay_call import selfplay
from alphago.training.cgzero import MixedTargets
from alphago.training.memory import ReplayMemory
from alphago.training.run_parts import run_settings
from alphago.training.targets import LambdaReturns, lambda_returns

TIC_TAC_TOE = TicTacToeEnv()


def games(env: GameEnv, count: int) -> list[GameRecord]:
    return selfplay(env, HashEvaluator(), 8, count, seed=0, search=Puct(), groups=1, opening_plies=0)


def record_of(plies: list[tuple[int, float, int, int]], outcome: float) -> GameRecord:
    """A game of four actions; of each ply action, search value, legal moves and mover."""
    builder = RecordBuilder()
    for action, value, legal, mover in plies:
        builder.add(action, np.array([0.25, 0.5, 0.25, 0.0], np.float32), value, legal, mover)
    return builder.finish(outcome, outcome, False, 4)


# White moves twice in a row; White wins by something less than 1.
PLIES = [(0, 0.5, 4, 1), (1, -0.25, 1, -1), (2, 0.75, 3, -1), (3, 0.0, 2, 1)]
GAME = record_of(PLIES, -0.9)


class TestValues:
    def test_lambda_returns(self) -> None:
        """By their recursion, from each mover's view; without a share of the search, the result."""
        assert lambda_returns(GAME, 0.0) == pytest.approx([-0.9, 0.9, 0.9, -0.9])
        black, wanted = -0.9, []
        for _, value, _, mover in reversed(PLIES):
            wanted.append(black * mover)
            black = 0.75 * black + 0.25 * value * mover
        assert lambda_returns(GAME, 0.25) == pytest.approx(wanted[::-1])

    @pytest.mark.parametrize(("share", "growth"), [(0.9, 0.1), (0.7, 0.3), (0.5, 0.0), (0.0, 1.0)])
    def test_results_that_count_more_and_more(self, share: float, growth: float) -> None:
        """k Z + (1 - k) Q, k by how many of the game's legal moves were seen, this ply's included."""
        seen, wanted = 0, []
        for _, value, legal, mover in PLIES:
            seen += legal
            k = share + growth * seen / 10  # of all plies
            wanted.append(k * -0.9 * mover + (1 - k) * value)
        found = MixedTargets(share, growth).values(GAME)
        assert found.dtype == np.float32
        assert found == pytest.approx(wanted, abs=1e-6)

    def test_of_a_game_without_moves(self) -> None:
        assert len(MixedTargets().values(record_of([], 1))) == 0


class TestPolicies:
    def long(self, length: int) -> GameRecord:
        return record_of([(ply % 4, 0.0, 4, 1 - ply % 2 * 2) for ply in range(length)], 1)

    def test_visits_the_move_played_and_what_is_between(self) -> None:
        """Of 20 plies: 4 of the search's alone, the last one (5 %) of the move played alone, in between a blend."""
        targets, record = MixedTargets(visits_until=0.2, played_from=0.95), self.long(20)
        found = targets.policies([record] * 20, list(range(20)))
        for ply, row in enumerate(found):
            place = ply / 20
            share = 0 if place < 0.2 else 1 if place >= 0.95 else (place - 0.2) / 0.75
            visits = record.policies[ply] / POLICY_SCALE
            wanted = (1 - share) * visits / visits.sum() + share * np.eye(4)[record.moves[ply]]
            assert row == pytest.approx(wanted, abs=1e-6), ply
        assert found.dtype == np.float32
        assert found.sum(axis=1) == pytest.approx(np.ones(20), abs=1e-6)
        assert found[19].tolist() == [0, 0, 0, 1]
        assert found[2] == pytest.approx([0.25, 0.5, 0.25, 0], abs=1e-4)

    def test_each_game_by_its_own_length(self) -> None:
        targets = MixedTargets(visits_until=0.5, played_from=0.5)
        long, short = self.long(8), self.long(2)
        found = targets.policies([long, short, long, short], [1, 1, 4, 0])
        assert (found.max(axis=1) == 1).tolist() == [False, True, True, False]

    def test_the_searchs_alone(self) -> None:
        """To the last bit what a memory without targets gives, whatever else the targets say."""
        record = games(TIC_TAC_TOE, 1)[0]
        plies = list(range(len(record)))
        plain = record.policies.astype(np.float32) / POLICY_SCALE
        targets = MixedTargets(visits_until=1, played_from=1)
        assert np.array_equal(targets.policies([record] * len(plies), plies), plain / plain.sum(1)[:, None])

    def test_moves_alone(self) -> None:
        record = self.long(5)
        found = MixedTargets(visits_until=0, played_from=0).policies([record] * 5, list(range(5)))
        assert np.array_equal(found, np.eye(4)[record.moves])


class TestInMemory:
    def test_a_sample_has_them(self) -> None:
        targets = MixedTargets(result_share=0.5, result_growth=0.5, visits_until=0, played_from=0)
        record = games(TIC_TAC_TOE, 1)[0]
        memory = ReplayMemory(TIC_TAC_TOE, targets=targets)
        memory.add([record])
        sample = memory.sample(100, np.random.default_rng(0))
        assert set(sample.value) <= set(targets.values(record))
        assert set(sample.policy.ravel()) == {0, 1}


class TestSettings:
    @pytest.mark.parametrize(
        ("given", "sentence"),
        [
            ({"result_growth": 0.2}, "result_share and result_growth must sum to at most 1, got 0.9 and 0.2"),
            ({"visits_until": 0.5, "played_from": 0.4}, "visits_until must be at most played_from, got 0.5 and 0.4"),
        ],
        ids=str,
    )
    def test_what_does_not_fit_together(self, given: dict[str, Any], sentence: str) -> None:
        with pytest.raises(ValueError, match=sentence):
            MixedTargets(**given)

    def test_of_a_run(self) -> None:
        assert run_settings(targets="mixed-targets", result_share=0.8).target_rule == MixedTargets(0.8)
        assert run_settings().target_rule == LambdaReturns(0.03)

    def test_unknown_ones(self) -> None:
        with pytest.raises(TypeError, match="MixedTargets has no keyword 'result_shares': did you mean result_share"):
            MixedTargets(result_shares=1)  # type: ignore[call-arg]

"""Moves that lose a given amount: probabilities, candidates, passes."""

import numpy as np
import pytest

from alphago import ConnectFourEnv, GameEnv, GoEnv, Position, Puct, analyze, load_model
from alphago.mcts.evaluator import FunctionEvaluator, HashEvaluator
from alphago.mcts.level_choice import (
    LOSS_SCALE,
    MoveLosses,
    level_shares,
    move_losses,
    move_probabilities,
    sure_losses,
)
from alphago.mcts.levels import LevelTerms
from alphago.mcts.opponent import SEEMING_LOSS, StrengthEstimator
from alphago.mcts.search import Search
from tests import diagrams
from tests.mcts.trees import ONE as GAMES
from tests.mcts.trees import run, search_from


def losses(*lost: float, passes: bool = False) -> MoveLosses:
    """Losses of one position in points; NaN for what is no candidate; equal shares."""
    row = np.array([lost], np.float32)
    shares = np.where(np.isnan(row), 0, 1 / len(lost)).astype(np.float32)
    return MoveLosses(row, shares, np.array([passes]), None)  # type: ignore[arg-type]


def expected(found: MoveLosses, target: float, unit: str = "points") -> float:
    return float((move_probabilities(found, LevelTerms(target, unit, 1)) * np.nan_to_num(found.lost)).sum())


def searched(position: Position, evaluator: object, readouts: int = 24) -> Search:
    search = search_from([position], evaluator, Puct())  # type: ignore[arg-type]
    run(search, readouts)
    search.expand_roots(GAMES)
    return search


class TestWeights:
    @pytest.mark.parametrize(("target", "unit"), [(0.5, "points"), (3.0, "points"), (0.1, "win rate")])
    def test_the_expected_loss_is_the_target(self, target: float, unit: str) -> None:
        scale = LOSS_SCALE[unit] / 4
        found = losses(0, scale, np.nan, 5 * scale, 12 * scale)
        assert expected(found, target, unit) == pytest.approx(target, rel=1e-3)

    def test_full_strength_plays_the_best(self) -> None:
        assert move_probabilities(losses(2, 0, 7), LevelTerms(0.0, "points", 1)).round(6).tolist() == [[0, 1, 0]]

    def test_what_cannot_be_lost(self) -> None:
        """The nearest: no candidate loses so much; the moves of equal shares stay nearly equal."""
        found = move_probabilities(losses(0.1, 0.1, 0, np.nan), LevelTerms(6.0, "points", 1))
        assert found[0, 3] == 0
        assert found[0, :3] == pytest.approx(1 / 3, abs=0.01)

    def test_a_strong_player_plays_the_likely_move_where_none_loses(self) -> None:
        found = losses(0, 0)._replace(shares=np.array([[0.8, 0.2]], np.float32))
        likely = [move_probabilities(found, LevelTerms(target, "points", 1))[0, 0] for target in (0.05, 0.3, 7.0)]
        assert likely[0] > 0.99 > likely[1] > 0.6 > likely[2]

    def test_a_done_board(self) -> None:
        found = losses(0, 3, np.nan, passes=True)
        assert move_probabilities(found, LevelTerms(2.0, "points", 1)).tolist() == [[0, 0, 1]]


class TestCandidates:
    @pytest.mark.parametrize("env", [GoEnv(5), ConnectFourEnv()], ids=str)
    def test_values_of_a_search_and_of_the_network(self, env: GameEnv) -> None:
        """A move with visits has their mean; the network's value of the position after it stands for any other."""
        start = env.position().play(3)
        search = searched(start, HashEvaluator())
        found = move_losses(search, GAMES, LevelTerms(1.0, "win rate", 24))
        worth = np.where(found.analysis.visits[0] > 0, found.analysis.win_rate[0], np.nan)
        for action in np.flatnonzero(start.legal_mask):
            after = start.play(int(action))
            if np.isnan(worth[action]):
                values = np.empty(1, np.float32)
                priors = np.empty((1, env.action_space), np.float32)
                HashEvaluator().evaluate(after.batch, GAMES, priors, values)
                worth[action] = (1 - values[0]) / 2
        candidates = ~np.isnan(found.lost[0])
        best = worth[found.shares[0].argmax()]
        assert candidates.sum() > 4
        assert found.lost[0, candidates] == pytest.approx(np.maximum(best - worth[candidates], 0), abs=1e-6)
        estimator, action = StrengthEstimator(env, HashEvaluator()), int(np.flatnonzero(candidates)[-1])
        lost, *_ = estimator.losses_by(action, start)
        again = move_losses(estimator.search, GAMES, LevelTerms(1.0, "win rate", 24)).lost[0, action]
        assert lost == pytest.approx(again - SEEMING_LOSS["win rate"], abs=1e-6)
        assert lost > 0

    def test_points(self) -> None:
        """With forecasts a loss is in points, as the network's scores of the positions after the moves."""
        net = load_model("7x7")
        start = net.env.position().play("D4")
        found = move_losses(searched(start, net.forecast_evaluator(), 8), GAMES, LevelTerms(9.0, "points", 8))
        unseen = np.flatnonzero((found.lost[0] > 0) & (found.analysis.visits[0] == 0))[:5]
        after = analyze([start.play(int(action)) for action in unseen], net.forecast_evaluator(), 0)
        best = found.analysis.score[0, found.shares[0].argmax()]
        assert found.lost[0, unseen] == pytest.approx(best + after.root_score, abs=1e-3)

    def test_more_for_a_player_who_loses_more(self) -> None:
        search = searched(GoEnv(7).position(), HashEvaluator())
        counts = [
            int((~np.isnan(move_losses(search, GAMES, LevelTerms(t, "win rate", 24)).lost)).sum()) for t in (0, 0.1, 1)
        ]
        assert counts == sorted(counts)
        assert counts[0] < counts[1] < counts[2] == 49

    @pytest.mark.parametrize(("komi", "played"), [(-30, "pass"), (30, "E5")])
    def test_a_threat_in_a_ko_rather_than_a_pass_that_loses(self, komi: float, played: str) -> None:
        """Nothing is left but own eyes; Black believes to win, and with a komi of 30 the board says otherwise."""
        drawing = ". X . X .\nX X X X X\nX X X X X\nX X X X X\n. X . X ."
        position = diagrams.position(drawing, env=GoEnv(5, komi=komi), komi=komi)
        policy = np.full(26, 0.01)
        policy[[position.env.from_text("E5"), -1]] = 0.5, 0.7
        search = searched(position, FunctionEvaluator(lambda p: (policy, 0.95 * p.to_play)), 0)
        shares = level_shares(search, GAMES, LevelTerms(1.0, "win rate", 24))
        assert np.flatnonzero(shares[0]).tolist() == [position.env.from_text(played)]


class TestPasses:
    @staticmethod
    def passes(position: Position, value: float, pass_share: float = 0.9) -> bool:
        """Whether a player passes whose network gives Black this value and prefers a pass."""
        policy = np.full(position.env.action_space, 1 - pass_share)
        policy[-1] = pass_share * position.env.action_space
        search = searched(position, FunctionEvaluator(lambda _: (policy, value)), 0)
        return bool(move_losses(search, GAMES, LevelTerms(0.3, "win rate", 1)).passes[0])

    def test_not_if_a_won_game_would_be_lost(self) -> None:
        """White has nothing on the board of one black stone, and believes to win."""
        position = GoEnv(5).position().play(12)
        assert not self.passes(position, value=-0.9)
        assert self.passes(position, value=0.9)

    def test_a_pass_that_wins(self) -> None:
        """The other side has passed, and the board is won as it stands."""
        position = GoEnv(5).position().after([12, 25])
        assert self.passes(position, value=0.9, pass_share=0.01)
        assert not self.passes(position.play(3), value=0.9, pass_share=0.01)

    @pytest.mark.parametrize(("value", "passes"), [(0.5, False), (0.9, True)])
    def test_a_long_search_decides_in_an_open_game(self, value: float, passes: bool) -> None:
        """White has won on the board and the network would pass, but E1 is worth the game to either side."""
        position = GoEnv(5, komi=0.5).position().after(["C3", "A5"])
        better = position.env.from_text("E1")
        policy = np.full(26, 0.01)
        policy[[better, -1]] = 0.5, 1
        network = FunctionEvaluator(lambda p: (policy, float(p.board.flat[better]) or -value))
        search = searched(position.give_turn(-1), network, 0)
        terms = LevelTerms(0.3, "win rate", 1)
        assert move_losses(search, GAMES, terms).passes[0]
        assert sure_losses(search, GAMES, terms).passes[0] == passes

    @pytest.mark.parametrize(("value", "points"), [(0.5, "C1 C2 C3 C4 C5"), (0.9, "pass")])
    def test_neutral_points_before_a_pass_in_an_open_game(self, value: float, points: str) -> None:
        """Two walls, with a column between them that is neither side's; the network would pass."""
        position = diagrams.position("\n".join([". X . O ."] * 5), env=GoEnv(5, komi=-0.5), komi=-0.5)
        policy = np.full(26, 1e-9)
        policy[-1] = 1
        search = searched(position, FunctionEvaluator(lambda p: (policy, value * p.to_play)), 0)
        shares = level_shares(search, GAMES, LevelTerms(0.1, "win rate", 1))
        assert {position.env.to_text(int(a)) for a in np.flatnonzero(shares[0] > 1e-3)} == set(points.split())
        assert shares.sum() == pytest.approx(1)

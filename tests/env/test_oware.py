"""Oware Abapa: each rule in a position, and the naive twin."""

from typing import Any

import numpy as np
import pytest

from alphago import IllegalMove, NeuralNet, OwareEnv, check_game, evaluate
from alphago.env.oware import OwarePosition
from alphago.nn.base import DenseBase
from alphago.records.record import RecordBuilder
from tests.naive.oware import NaiveOware
from tests.naive.plain import with_states


def position(black: str, white: str, *, margin: int = 0, to_play: int = 1, max_moves: int = 200) -> OwarePosition:
    """Both sides' houses from their own left."""
    houses = [int(word) for word in f"{black} {white}".split()]
    return OwareEnv(max_moves).position(houses=houses, margin=margin, to_play=to_play)


OPTIONS = [
    {},
    {"max_moves": 7},
    {"max_moves": 60},
    pytest.param({"rules": "cgzero"}, marks=pytest.mark.slow),
    {"max_moves": 30, "rules": "cgzero", "planes": "one-hot"},
    {"max_moves": 50, "repetition": False},
    {"max_moves": 20, "remainder": "nobody"},
    {"graded": True},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_agrees_with_its_twin(options: dict) -> None:
    """From the start, and from few seeds, where sides are starved, positions come again and games are drawn."""
    env = OwareEnv(**options)
    twin = with_states(env, NaiveOware)
    check_game(env, twin, games=1)
    check_game(env, twin, games=6, setups=few_seeds(6))


def few_seeds(count: int) -> list[dict]:
    """Set-ups with seeds thrown into the houses."""
    random, setups = np.random.default_rng(1), []
    for number in range(count):
        houses = random.multinomial(3 + number, np.ones(12) / 12)
        setups.append({"houses": houses.tolist(), "margin": int(houses.sum() % 2), "to_play": (1, -1)[number % 2]})
    return setups


class TestRules:
    """Each difference between those who play Oware."""

    def test_by_name(self) -> None:
        rules = {"max_moves": 200, "repetition": True, "remainder": "own", "graded": False}
        assert OwareEnv().config == {**rules, "planes": "board"}
        assert OwareEnv(rules="cgzero") == OwareEnv(199, repetition=False, remainder="nobody", graded=True)
        assert OwareEnv(rules="cgzero", repetition=True, max_moves=300).rules == (300, True, "nobody", True)
        assert OwareEnv(90, planes="one-hot").replace(rules="cgzero") == OwareEnv(rules="cgzero", planes="one-hot")
        assert OwareEnv(rules="cgzero").replace(graded=False).rules == (199, False, "nobody", False)

    def test_grades(self) -> None:
        """25 to 12 after 100 plies of 199; after 7 it would be more than 1."""
        setup = {"houses": [0, 0, 0, 0, 1, 1, 1, 5, 5, 0, 0, 0], "margin": 11}
        end = OwareEnv(rules="cgzero").position(**setup, move_number=99).play("F")
        assert end.captures == (25, 12)
        assert end.outcome == pytest.approx(0.85 + 0.0006 * 99 + 0.0026 * 25 - 0.0020 * 12, abs=1e-6)
        assert (end.result, end.score()) == (1, 13)
        assert OwareEnv(rules="cgzero").position(**setup, move_number=6).play("F").outcome == 1

    def test_a_graded_draw_is_a_draw(self) -> None:
        """In records and matches too, though Black's 24 seeds count a little."""
        env = OwareEnv(rules="cgzero")
        end = env.position(houses=[3, 1, *[0] * 10], margin=-4)
        assert (end.outcome, end.result) == (pytest.approx(0.012), 0)
        assert RecordBuilder().finish(end.outcome, end.score(), False, 6).result_string == "draw"

    def test_a_match_counts_wins(self) -> None:
        """Random games to the cap, many of them drawn if it comes soon."""
        match = evaluate(OwareEnv(12, rules="cgzero"), "random", "random", 40)
        assert match.draws > 0
        assert OwareEnv(rules="cgzero").match_variant().graded is False


class TestOneHot:
    def test_many_seeds_count_as_the_most(self) -> None:
        start = OwareEnv(planes="one-hot").position(houses=[0, 0, 30, *[0] * 9], margin=18)
        assert start.planes()[2 * 24 + 23] == start.planes()[288 + 18] == 1

    def test_networks_of_both_planes_play_each_other(self) -> None:
        board, one_hot = (OwareEnv(planes=planes) for planes in ("board", "one-hot"))
        nets = [NeuralNet(env, DenseBase(env.planes, env.plane_shape, [8])) for env in (board, one_hot)]
        match = evaluate(board, *nets, num_games=4, readouts=4)
        assert len(match.games) == 4
        assert board.accepts(one_hot)
        assert not board.accepts(OwareEnv(rules="cgzero"))


class TestFeeding:
    def test_who_has_no_seeds_is_fed(self) -> None:
        start = position("1 0 0 3 1 1", "0 0 0 0 0 0")
        assert [start.env.to_text(int(action)) for action in start.legal_mask.nonzero()[0]] == ["D", "F"]
        with pytest.raises(IllegalMove, match="illegal move E: the house leaves the other side without seeds"):
            start.play("E")
        with pytest.raises(IllegalMove, match="illegal move B: the house is empty"):
            start.play("B")

    def test_who_cannot_feed_takes_the_rest(self) -> None:
        """No seed of Black's reaches White, who has none: Black keeps them, and the game is over."""
        end = position("3 1 0 0 0 0", "0 0 0 0 0 0", margin=-4)
        assert (end.is_over, end.captures, end.result) == (True, (24, 24), 0)


def test_a_move_number_counts_for_the_end() -> None:
    late = OwareEnv(200).position(to_play="white", move_number=199)
    assert "move 199: White to play" in str(late)
    assert late.play("a").is_over


@pytest.mark.parametrize(
    ("setup", "message"),
    [
        ({"houses": [3] * 12, "margin": 5}, "margin must be a difference of two parts of 12 captured seeds"),
        ({"houses": [3] * 12, "margin": 14}, "margin must be an integer from -12 to 12"),
        ({"margin": None}, "margin must be an integer from 0 to 0, got None"),
        ({"houses": [2**62] * 4 + [0] * 8}, "houses must be 12 integers >= 0 with a sum of at most 48"),  # the sum is 0
    ],
)
def test_set_ups_that_no_game_has(setup: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OwareEnv().position(**setup)


def test_drawing() -> None:
    assert str(OwareEnv().position().play("E")).splitlines() == [
        "      F   E   D   C   B   A",
        "      4   4   4   5   5   5    White 0",
        "      4   4   4   4   0   5    Black 0",
        "      A   B   C   D   E   F",
        "   move 1: White to play",
    ]

"""What helps to learn Go: the variant that self-play plays, random komi, openings, what a search sees; own set-ups."""

import numpy as np
import pytest

from alphago.env.go import GoEnv


def test_the_variant_of_selfplay() -> None:
    variant = GoEnv(9, komi=5.5, planes=5).selfplay_variant()
    assert variant == GoEnv(9, komi=5.5, planes=5, first_pass=72, margin_weight=0.3, komi_spread=1)
    chosen = GoEnv(9, first_pass=10, margin_weight=0.5, komi_spread=2)
    assert chosen.selfplay_variant() == chosen


def test_a_search_sees_no_pass_in_a_game_of_fixed_turns() -> None:
    turns = GoEnv(5, turns=4, first_pass=3)
    assert turns.player_view() == GoEnv(5, turns=4, first_pass=8)
    assert GoEnv(5).player_view() == GoEnv(5)


def test_openings_are_off_the_edge() -> None:
    allowed = GoEnv(4).opening_actions
    assert [GoEnv(4).to_text(int(action)) for action in np.flatnonzero(allowed)] == ["B3", "C3", "B2", "C2"]


# --- how games of self-play start ------------------------------------------------------------------


def komis(env: GoEnv, count: int = 4000) -> np.ndarray:
    return np.array([env.random_setup(np.random.default_rng([3, i]))["komi"] for i in range(count)])


def test_without_options_every_game_starts_the_same() -> None:
    generator = np.random.default_rng(1)
    assert GoEnv(9).random_setup(generator) == {}
    assert generator.random() == np.random.default_rng(1).random()  # nothing was drawn


def test_komi_is_drawn_near_the_own_one_and_near_half_of_it() -> None:
    """An equal mixture: mean 3/4 komi; variance that of the parts and of their distance."""
    env = GoEnv(9, komi=8, komi_spread=1)
    drawn = komis(env)
    assert np.array_equal(2 * drawn, np.round(2 * drawn))
    assert drawn.mean() == pytest.approx(6, abs=0.3)
    assert drawn.var() == pytest.approx((2**2 + 5**2) / 2 + 2**2, rel=0.1)
    near = (np.abs(drawn - 8) <= 1).mean()
    assert near == pytest.approx(0.5 * 0.468 + 0.5 * 0.144, abs=0.03)  # 6.75 to 9.25 before rounding
    narrow = komis(env.replace(komi_spread=0.1))
    assert set(np.sign(narrow - 6)) == {-1, 1}  # two heaps, komi and half of it, with nothing between
    assert (narrow > 6).mean() == pytest.approx(0.5, abs=0.03)
    assert narrow[narrow > 6].mean() == pytest.approx(8, abs=0.05)
    assert narrow[narrow < 6].mean() == pytest.approx(4, abs=0.05)


def test_komi_never_exceeds_the_board_and_every_position_takes_it() -> None:
    env = GoEnv(3, komi=0, komi_spread=20)
    drawn = komis(env, 200)
    assert drawn.min() == -9
    assert drawn.max() == 9
    for komi in np.unique(drawn):
        assert env.position(komi=float(komi)).score() == -komi

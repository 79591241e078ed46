"""Ko, superko and suicide on drawings, under each rule."""

import numpy as np
import pytest

from alphago import GoEnv, IllegalMove
from tests.diagrams import is_legal, play, position

KO_RULES = ("simple", "positional", "situational")


def allowing(drawing: str, moves: str, point: str) -> set[str]:
    """The ko rules under which a point may be played after some moves."""
    return {ko for ko in KO_RULES if is_legal(position(drawing, moves, env=GoEnv(5, ko=ko)), point)}


KO = """
    . X O . .
    X O . O .
    . X O . .
    . . . . .
    . . . . .
    """


def test_a_ko_may_not_be_retaken_at_once_under_any_rule() -> None:
    assert allowing(KO, "B C4", "B4") == set()
    assert allowing(KO, "B C4, W A1, B E1", "B4") == set(KO_RULES)


@pytest.mark.parametrize("ko", KO_RULES)
def test_passes_lift_a_simple_ko_and_never_superko(ko: str) -> None:
    """After two passes, which fixed turns allow, the board before the last move is the present one."""
    passed = position(KO, "B C4, W pass, B pass", env=GoEnv(5, ko=ko, turns=9))
    assert is_legal(passed, "B4") == (ko == "simple")


SENT = """
    . X . X .
    O O X . .
    . . . . .
    . . . . .
    . . . . .
    """


def test_sending_two_returning_one() -> None:
    """Three plies after, the same board, with the other side to move."""
    assert allowing(SENT, "B A5, W C5", "B5") == {"simple", "situational"}
    assert allowing(SENT, "B A5, W C5, B E1, W E2", "B5") == set(KO_RULES)


@pytest.mark.parametrize("ko", KO_RULES)
def test_a_single_stones_suicide_is_a_repetition_under_every_rule(ko: str) -> None:
    alone = position(". X .\nX . .\n. . .", env=GoEnv(3, ko=ko, suicide=True), to_play="white")
    with pytest.raises(IllegalMove, match="illegal move A3: suicide that repeats a board, in GoEnv"):
        alone.play(alone.env.from_text("A3"))


def test_a_game_without_a_cap_goes_on_until_two_passes() -> None:
    env = GoEnv(2, ko="simple", max_moves=0)
    assert (env.max_moves, env.config["max_moves"]) == (65_536, 0)
    batch, slot = env.new_batch(1), np.zeros(1, np.int64)
    random = np.random.default_rng(0)
    for _ in range(2000):
        points = np.flatnonzero(batch.legal_mask(slot, np.empty((1, 5), np.bool_))[0, :-1])
        batch.play(slot, random.choice(points if len(points) else [env.pass_action], 1).astype(np.int32))
    assert not batch.is_over(slot, np.empty(1, np.bool_))[0]
    batch.play(slot, np.array([4], np.int32))
    batch.play(slot, np.array([4], np.int32))
    assert batch.is_over(slot, np.empty(1, np.bool_))[0]


def test_fixed_turns() -> None:
    """Each side plays so often; passes use a turn up, and two of them end nothing."""
    env = GoEnv(3, turns=3, komi=0)
    assert (env.max_moves, env.config["max_moves"], env.cuts_games) == (6, None, False)
    going = play(env.position(), "B B2, W pass, B pass, W pass, B pass")
    assert not going.is_over
    ended = play(going, "W A1")
    assert (ended.is_over, ended.score()) == (True, 0)  # a stone each, and the empty points touch both


def test_superko_counts_a_captured_chain_once_however_often_the_stone_touches_it() -> None:
    """White takes E5 and surrounds it with three chains, one on two sides; taking them back repeats the start."""
    drawing = """
        . . . . . . . . .
        . . . . X . . . .
        . . . X . X . . .
        . . . X . X X . .
        . . X . X . . X .
        . . X . . X X . .
        . . . X X . . . .
        . . . . . . . . .
        . . . . . . . . .
        """
    moves = "W E6, B pass, W F5, B pass, W D5, B pass, W E4, B pass, W E7, B pass, W G5, B pass, W D4"
    surrounded = position(drawing, moves, to_play="white")
    assert not is_legal(surrounded, "E5")
    assert (play(surrounded, "B A1, W J9, B E5").board == -1).sum() == 1

"""Games that spare eyes: one's own may not be filled, whatever else the rules allow."""

import numpy as np
import pytest

from alphago.env.check import check_game
from alphago.env.game import IllegalMove
from alphago.env.go import GoEnv
from tests.diagrams import play, position
from tests.naive.go import NaiveGoEnv, random_board


def spared(drawing: str, to_play: str = "black") -> str:
    """The points that may be played but for their being eyes, in order of actions."""
    plain = position(drawing, to_play=to_play)
    sparing = position(drawing, to_play=to_play, spares_eyes=True)
    assert not (sparing.legal_mask & ~plain.legal_mask).any(), "sparing eyes allows nothing new"
    lost = np.flatnonzero(plain.legal_mask & ~sparing.legal_mask)
    return " ".join(plain.env.to_text(int(action)) for action in lost)


CENTRE = """
    . . . . .
    . {} X {} .
    . X . X .
    . {} X {} .
    . . . . .
    """


@pytest.mark.parametrize(
    ("corners", "eyes"),
    [("....", "C3"), ("XXXX", "C3"), ("O...", "C3"), ("O..O", ""), ("OO..", ""), ("XOXO", ""), ("OOOX", "")],
)
def test_an_eye_in_the_middle_is_false_with_two_enemies_at_its_corners(corners: str, eyes: str) -> None:
    assert spared(CENTRE.format(*corners)) == eyes


@pytest.mark.parametrize(("corners", "eyes"), [("..", "C5"), ("XX", "C5"), ("O.", ""), (".O", ""), ("OO", "")])
def test_an_eye_on_the_edge_is_false_with_one(corners: str, eyes: str) -> None:
    drawing = """
        . X . X .
        . {} X {} .
        . . . . .
        . . . . .
        . . . . .
        """
    assert spared(drawing.format(*corners)) == eyes


@pytest.mark.parametrize(("corner", "eyes"), [(".", "A5"), ("X", "A5"), ("O", "")])
def test_an_eye_in_the_corner_is_false_with_one(corner: str, eyes: str) -> None:
    drawing = f"""
        . X . . .
        X {corner} . . .
        . . . . .
        . . . . .
        . . . . .
        """
    assert spared(drawing) == eyes


def test_every_corner_and_edge_of_the_board() -> None:
    drawing = """
        . X . X .
        X X X X X
        . X X X .
        X X X X X
        . X . X .
        """
    assert spared(drawing) == "A5 C5 E5 A3 E3 A1 C1 E1"
    assert spared(drawing, "white") == ""  # they are Black's


def test_larger_spaces_and_the_enemys_eyes_are_no_own_eyes() -> None:
    drawing = """
        . . X O .
        X X X O O
        O O O . .
        . O . . .
        O O . . .
        """
    assert spared(drawing) == ""  # A5 and B5 are one space of two points
    assert spared(drawing, "white") == "E5 A2"


def test_both_eyes_of_a_group_are_spared() -> None:
    drawing = """
        X X X
        X . X
        X X .
        """
    assert spared(drawing) == "B2 C1"
    for mover in ("black", "white"):  # White would be taken at once at either
        assert position(drawing, to_play=mover, spares_eyes=True).legal_mask.tolist() == [False] * 9 + [True]


def test_passing_is_what_is_left_when_all_points_are_eyes() -> None:
    drawing = """
        . X .
        X X X
        . X .
        """
    env = GoEnv(3, first_pass=50)
    sparing = position(drawing, env=env, spares_eyes=True)
    assert np.flatnonzero(sparing.legal_mask).tolist() == [env.pass_action]
    filling = position(drawing, env=env)
    assert np.flatnonzero(filling.legal_mask).tolist() == [0, 2, 6, 8]  # not to pass before ply 50


def test_only_the_legal_mask_changes() -> None:
    drawing = """
        . X . O .
        X X X O O
        . . . . .
        . . . . .
        . . . . .
        """
    plain, sparing = position(drawing), position(drawing, spares_eyes=True)
    assert np.array_equal(plain.planes(), sparing.planes())
    assert plain.score() == sparing.score()
    slot = np.zeros(1, np.int64)
    hashes = [shown.batch.hash(slot, np.empty(1, np.int64))[0] for shown in (plain, sparing)]
    assert hashes[0] == hashes[1]


def test_it_lasts_for_the_game_and_goes_with_copies() -> None:
    start = position(". X . / X X . / . . .".replace("/", "\n"), spares_eyes=True)
    later = play(start, "B pass, W C1, B pass, W C2")
    assert not later.legal_mask[0]
    batch = start.env.new_batch(2)
    batch.copy(np.zeros(1, np.int64), np.ones(1, np.int64), of=later.batch)
    mask = batch.legal_mask(np.arange(2), np.empty((2, 10), np.bool_))
    assert mask[0, 0]  # a new slot plays by the rules
    assert not mask[1, 0]
    batch.reset(np.ones(1, np.int64))
    assert batch.legal_mask(np.ones(1, np.int64), np.empty((1, 10), np.bool_)).all()


def test_a_set_up_says_that_it_spares_eyes() -> None:
    start = position(". X . / X X . / . . .".replace("/", "\n"), spares_eyes=True)
    text = "GoEnv(3).position(black='B3 A2 B2', spares_eyes=True)"
    assert start.describe() == text
    assert np.array_equal(eval(text).legal_mask, start.legal_mask)
    read = start.env.position_of(start.batch, 0)
    assert read.describe() == text
    assert "spares_eyes" not in GoEnv(3).position().describe()
    with pytest.raises(IllegalMove) as caught:
        start.play(0)
    assert str(caught.value) == f"illegal move A3: an own eye, which this game spares, in {text}"
    suicide = position(". O . / O O . / . . .".replace("/", "\n"), spares_eyes=True)
    with pytest.raises(IllegalMove, match="illegal move A3: suicide"):
        suicide.play(0)


@pytest.mark.parametrize(("size", "games"), [(2, 30), (3, 40), (5, 15), (9, 3)])
def test_games_that_spare_eyes_agree_with_plain_go(size: int, games: int) -> None:
    """From boards that are nearly full of stones of mostly one colour, where eyes true and false abound."""
    random = np.random.default_rng(size)
    setups: list[dict] = [{"spares_eyes": True}]
    eyes = 0
    for number in range(games - 1):
        colour = [1, -1][number % 2]
        setup = {"stones": colour * random_board(size, [0.08, 0.22, 0.7], random), "to_play": colour}
        setups.append({**setup, "spares_eyes": True})
        masks = [NaiveGoEnv(size).new(**setup, spares_eyes=sparing).legal_mask() for sparing in (False, True)]
        eyes += int(masks[0].sum() - masks[1].sum())
    assert eyes > 1
    options = {"max_moves": 30, "first_pass": 12}
    check_game(GoEnv(size, **options), NaiveGoEnv(size, **options), games=games, setups=setups)

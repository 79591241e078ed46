"""Oware Abapa: each rule in a position, and the naive twin."""

import numpy as np
import pytest

from alphago.env.check import check_game
from alphago.env.game import IllegalMove
from alphago.env.oware import OwareEnv, OwarePosition
from tests.env.counting import count_games
from tests.naive.oware import NaiveOwareEnv


def position(black: str, white: str, *, margin: int = 0, to_play: int = 1, max_moves: int = 200) -> OwarePosition:
    """Both sides' houses from their own left."""
    houses = [int(word) for word in f"{black} {white}".split()]
    return OwareEnv(max_moves).position(houses=houses, margin=margin, to_play=to_play)


def play(start: OwarePosition, moves: str) -> OwarePosition:
    for move in moves:
        start = start.play(start.env.from_text(move))
    return start


def sides(position: OwarePosition) -> tuple[str, str]:
    houses = [str(seeds) for seeds in position.houses]
    return " ".join(houses[:6]), " ".join(houses[6:])


def test_agrees_with_its_twin() -> None:
    check_game(OwareEnv(), NaiveOwareEnv(), games=4)
    check_game(OwareEnv(7), NaiveOwareEnv(7), games=3)


def test_agrees_with_its_twin_near_the_end() -> None:
    """Few seeds: positions come again, sides are starved and have to be fed."""
    random = np.random.default_rng(1)
    setups = []
    for number in range(30):
        houses = random.multinomial(3 + number // 3, np.ones(12) / 12)
        setups.append({"houses": houses.tolist(), "margin": int(houses.sum() % 2), "to_play": (1, -1)[number % 2]})
    check_game(OwareEnv(60), NaiveOwareEnv(60), games=30, setups=setups)


def test_numbers_of_games() -> None:
    """Six moves each at first; a house once sown is empty until the other side reaches it."""
    assert count_games(OwareEnv(), 5) == count_games(NaiveOwareEnv(), 5)
    assert count_games(OwareEnv(), 2) == [6, 36]


class TestSowing:
    def test_to_the_right_and_round_the_corner(self) -> None:
        after = play(OwareEnv().position(), "E")
        assert sides(after) == ("4 4 4 4 0 5", "5 5 5 4 4 4")
        assert sides(play(after, "F")) == ("5 5 5 5 0 5", "5 5 5 4 4 0")

    def test_past_its_own_house(self) -> None:
        """Twelve seeds and more skip the house that they come from."""
        assert sides(play(position("12 0 0 0 0 0", "1 0 0 0 0 0", margin=1), "A")) == ("0 2 1 1 1 1", "2 1 1 1 1 1")


class TestCapture:
    def test_twos_and_threes_backwards(self) -> None:
        """The last seed makes three in C, then two in B is taken too; four in A stays."""
        after = play(position("0 0 0 0 0 3", "3 1 2 5 5 0", margin=1), "F")
        assert sides(after) == ("0 0 0 0 0 0", "4 0 0 5 5 0")
        assert after.stores == (20, 14)

    def test_nothing_behind_a_house_that_is_not(self) -> None:
        after = play(position("0 0 0 0 0 3", "2 4 1 5 5 0"), "F")
        assert sides(after) == ("0 0 0 0 0 0", "3 5 0 5 5 0")

    @pytest.mark.parametrize("last", [0, 3])
    def test_one_and_four_are_not_taken(self, last: int) -> None:
        after = play(position("1 0 0 0 0 1", f"{last} 1 1 1 1 1", margin=(last + 1) % 2), "F")
        assert sides(after) == ("1 0 0 0 0 0", f"{last + 1} 1 1 1 1 1")

    def test_own_houses_are_safe(self) -> None:
        after = play(position("1 1 0 0 0 0", "1 0 0 0 0 0", margin=1), "A")
        assert sides(after) == ("0 2 0 0 0 0", "1 0 0 0 0 0")

    def test_a_grand_slam_takes_nothing(self) -> None:
        after = play(position("1 0 0 0 0 2", "1 1 0 0 0 0", margin=1), "F")
        assert sides(after) == ("1 0 0 0 0 0", "2 2 0 0 0 0")
        assert not after.is_over


class TestFeeding:
    def test_who_has_no_seeds_is_fed(self) -> None:
        start = position("1 0 0 3 1 1", "0 0 0 0 0 0")
        assert [start.env.to_text(int(action)) for action in start.legal_mask.nonzero()[0]] == ["D", "F"]
        with pytest.raises(IllegalMove, match="illegal move E: the house leaves the other side without seeds"):
            play(start, "E")
        with pytest.raises(IllegalMove, match="illegal move B: the house is empty"):
            play(start, "B")

    def test_who_cannot_feed_takes_the_rest(self) -> None:
        """No seed of Black's reaches White, who has none: Black keeps them, and the game is over."""
        end = position("3 1 0 0 0 0", "0 0 0 0 0 0", margin=-4)
        assert end.is_over
        assert end.stores == (24, 24)
        assert end.result == 0


class TestEnd:
    def test_more_than_half(self) -> None:
        """25 seeds win at once; the rest counts for nobody."""
        end = play(position("0 0 0 0 1 1", "1 5 5 0 0 0", margin=11), "F")
        assert end.is_over
        assert end.stores == (25, 12)
        assert (end.score(), end.result) == (13, 1)

    def test_half_is_not_enough(self) -> None:
        assert not play(position("0 0 0 0 1 1", "1 5 5 0 0 0", margin=9), "F").is_over

    def test_a_position_that_comes_again(self) -> None:
        """Two seeds chase each other round the board; each side then keeps the one in its houses."""
        now, moves = position("1 0 0 0 0 0", "1 0 0 0 0 0"), 0
        while not now.is_over:
            now = now.play(int(np.argmax(now.legal_mask)))
            moves += 1
        assert moves == 12
        assert now.stores == (24, 24)

    def test_the_limit(self) -> None:
        """Both take their own houses."""
        end = play(position("4 4 4 4 4 4", "4 4 4 4 4 4", max_moves=1), "F")
        assert end.is_over
        assert end.stores == (20, 28)
        assert (end.score(), end.result) == (-8, -1)


def test_a_move_number_counts_for_the_end() -> None:
    late = OwareEnv(200).position(to_play="white", move_number=199)
    assert "move 199: White to play" in str(late)
    assert late.play("a").is_over


@pytest.mark.parametrize(
    ("setup", "sentence"),
    [
        ({"houses": [4] * 11}, "houses must be 12 integers >= 0 with a sum of at most 48"),
        ({"houses": [5] * 12}, "houses must be 12 integers"),
        ({"houses": [-1] + [4] * 11}, "houses must be 12 integers"),
        ({"margin": 2}, "margin must be a difference of two parts of 0 captured seeds"),
        ({"houses": [3] * 12, "margin": 5}, "margin must be a difference of two parts of 12 captured seeds"),
        ({"to_play": 0}, r"to_play must be 'black' or 'white' \(or \+1, -1\), got 0"),
        ({"move_number": 201}, "move_number must be an integer from 0 to 200, got 201"),
    ],
)
def test_bad_set_ups(setup: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        OwareEnv().position(**setup)


@pytest.mark.parametrize("text", ["", "G", "AB", "1"])
def test_no_houses(text: str) -> None:
    with pytest.raises(ValueError, match="expected A to F"):
        OwareEnv().from_text(text)


def test_bad_limit() -> None:
    with pytest.raises(ValueError, match="max_moves must be an integer >= 1, got 0"):
        OwareEnv(0)


def test_drawing() -> None:
    assert str(play(OwareEnv().position(), "E")).splitlines() == [
        "      F   E   D   C   B   A",
        "      4   4   4   5   5   5    White 0",
        "      4   4   4   4   0   5    Black 0",
        "      A   B   C   D   E   F",
        "   move 1: White to play",
    ]

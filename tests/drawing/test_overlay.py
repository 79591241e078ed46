"""What a network says on a picture: which moves are marked, what stands on them, and what the legend tells."""

from typing import Any

import numpy as np
import pytest

from alphago.drawing.overlay import Overlay, Spot, disc_text, discs, legend, make_overlay, ownership_squares
from alphago.drawing.shapes import BLACK, ORANGE, WHITE, Circle, Rect, Text

PRIORS = np.array([0.5, 0.3, 0.192, 0.008], np.float32)
VISITS = np.array([10, 80, 0, 1500])
VALUES = np.array([0.2, -0.5, np.nan, 1.0], np.float32)
SPOTS = [Spot(10 * i, 0, 4) for i in range(4)]


def test_counts_are_short() -> None:
    counts = (0, 999, 1000, 1234, 9949, 9950, 12_345, 999_499, 999_500, 1_500_000, 99_000_000)
    texts = ["0", "999", "1.0k", "1.2k", "9.9k", "10k", "12k", "999k", "1.0M", "1.5M", "99M"]
    assert [disc_text(Overlay(visits=np.array(counts)), action, 0) for action in range(len(counts))] == texts


@pytest.mark.parametrize(
    ("overlay", "marked"),
    [
        (Overlay(priors=PRIORS), [0, 1, 2]),  # not what is hardly probable
        (Overlay(visits=VISITS), [3, 1, 0]),  # not what was not visited
        (Overlay(priors=PRIORS, visits=VISITS, q=VALUES), [3, 1, 0]),
        (Overlay(q=VALUES), [3, 0, 1]),
        (Overlay(ownership=np.zeros((2, 2))), []),
    ],
)
def test_marked_actions(overlay: Overlay, marked: list[int]) -> None:
    assert list(dict.fromkeys(shape.x // 10 for shape in discs(overlay, SPOTS))) == marked


@pytest.mark.parametrize(
    ("show", "texts"),
    [
        (None, ["60%", "25%", "100%"]),
        ("q", ["60%", "25%", "100%"]),
        ("visits", ["10", "80", "1.5k"]),
        ("priors", ["50%", "30%", "1%"]),
        ("difference", ["−40", "−75", "100%"]),
        ("q+priors", ["1.10", "0.55", "1.01"]),
    ],
)
def test_the_number_on_a_disc(show: str | None, texts: list[str]) -> None:
    overlay = Overlay(priors=PRIORS, visits=VISITS, q=VALUES, show=show)
    assert [disc_text(overlay, action, 3) for action in (0, 1, 3)] == texts


def test_the_best_disc_is_ringed_and_the_darkest() -> None:
    shapes = discs(Overlay(priors=PRIORS), SPOTS)
    circles = [shape for shape in shapes if isinstance(shape, Circle)]
    assert [circle.x for circle in circles] == [0, 0, 10, 20]
    assert [circle.style.stroke == ORANGE for circle in circles] == [True, False, False, False]
    darkness = [int(circle.style.fill[1:3], 16) for circle in circles[1:]]
    assert darkness == sorted(darkness)
    assert [shape.text for shape in shapes if isinstance(shape, Text)] == ["50%", "30%", "19%"]


def test_visits_stand_below_other_numbers() -> None:
    shapes = discs(Overlay(visits=VISITS, q=VALUES), SPOTS)
    assert [shape.text for shape in shapes if isinstance(shape, Text)] == ["100%", "1.5k", "25%", "80", "60%", "10"]


def test_squares_of_ownership() -> None:
    """Surer is larger; a stone has one only as far as it is lost, in the other side's colour."""
    ownership = np.array([[0.9, -0.2], [0.8, -0.6]])
    stones = [0, 0, 1, 1]
    boxes = [shape for shape in ownership_squares(ownership, stones, SPOTS) if isinstance(shape, Rect)]
    assert [box.style.fill for box in boxes] == [BLACK, WHITE, WHITE, WHITE]
    sizes = [box.width for box in boxes]
    assert sizes[0] > sizes[3] > sizes[1] > sizes[2]  # 0.9, lost by 0.8, 0.2, lost by 0.1
    assert ownership_squares(np.full((2, 2), 0.01), [0, 0, 0, 0], SPOTS) == []


def test_the_legend_explains_what_is_there() -> None:
    overlay = Overlay(priors=PRIORS, visits=VISITS, q=VALUES, ownership=np.zeros((2, 2)))
    told = legend(overlay, [0, 1, 2, -1], "abcd".__getitem__)
    assert told == [
        "On a disc: win rate of the side to move, visits below. Darker: visited more; ringed: the most visited.",
        "Off the board: d 100%.",
        "Squares: whose the point becomes, larger where it is surer; on a stone: how surely it is lost.",
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"priors": np.zeros(3)}, r"priors must be an array of shape \[4\], got \[3\]"),
        ({"visits": np.zeros((1, 4))}, r"visits must be an array of shape \[4\], got \[1, 4\]"),
        ({"ownership": np.zeros(4)}, r"ownership must be an array of shape \[2, 2\], got \[4\]"),
        ({"show": "loss"}, "show must be one of 'priors', 'visits', .*, got 'loss'"),
        ({"show": "difference", "q": VALUES}, "show='difference' needs visits, got none"),
    ],
)
def test_wrong_numbers(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_overlay(4, (2, 2), **given)

"""Overlays: what a network or a search says of a position, as discs, squares and numbered stones on its picture."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from alphago.drawing.shapes import BLACK, BLUE, EDGE, ORANGE, PALE, WHITE, Circle, Rect, Shape, Style, Text, ink_on, mix
from alphago.system.validation import check_choice

MOST_DISCS = 20  # the greatest number of discs
MOST_NAMED = 6  # the greatest number of actions without a place that the legend lists
LEAST_PRIOR = 0.01  # without visits, the least prior of an action that gets a disc
LEAST_SQUARE = 0.05  # the least ownership of a point that gets a square
ONE_LINE, TWO_LINES = 0.8, 0.7  # font size on a disc with one or two lines of text, as a share of its radius
LARGEST_SQUARE = 0.55  # half the side of the largest square of ownership, as a share of a disc's radius
# What the number on a disc may be, and how the legend calls it.
SHOWN = {
    "priors": "share of the network's policy",
    "visits": "visits of the search",
    "q": "win rate of the side to move",
    "q+priors": "win rate of the side to move plus share of the policy",
    "difference": "win rate of the side to move, for other moves the difference from the most visited one's",
}

# What a darker disc and the ringed disc mean, and the field of Overlay that has the discs' weights.
WEIGHT_WORDS = (
    (("visited more", "most visited"), "visits"),
    (("more probable", "most probable"), "priors"),
    (("better", "best"), "q"),
)


class Overlay(NamedTuple):
    """What is drawn over the picture of a position in a game with A actions; a field that is None is not drawn.

    Attributes:
        q: values from the view of the side to move.
        line: the expected moves after the position: {number of the move: (point, colour)}; colour +1 Black, -1 White.
        show: which number is written on the discs, a key of SHOWN; None for the win rate if `q` is given, else the
            prior, else the visits.
    """

    priors: np.ndarray | None = None  # float [A], 0 .. 1
    visits: np.ndarray | None = None  # integers [A]
    q: np.ndarray | None = None  # float [A], -1 .. 1; NaN where unknown
    ownership: np.ndarray | None = None  # float [height, width], -1 .. 1, 1 Black's
    line: Mapping[int, tuple[int, int]] | None = None
    show: str | None = None

    @property
    def shown(self) -> str | None:
        """Which number is written on the discs, a key of SHOWN; None if there are no discs."""
        known = (name for name in ("q", "priors", "visits") if getattr(self, name) is not None)
        return self.show or next(known, None)


class Spot(NamedTuple):
    """The place of an action in a picture: the middle and the radius of its disc."""

    x: float
    y: float
    radius: float


def make_overlay(actions: int, shape: tuple[int, int], **given: Any) -> Overlay:
    """Return an overlay of the given numbers.

    Args:
        actions: the number of actions of the game.
        shape: the height and width of its board.
        given: fields of Overlay by name: `show`, and arrays in any form that NumPy reads.

    Raises:
        ValueError: for an array of a wrong shape, an unknown `show`, or a `show` whose numbers are not given.
    """
    show = given.pop("show", None)
    arrays: dict[str, Any] = {name: None if value is None else np.asarray(value) for name, value in given.items()}
    for name, array in arrays.items():
        expected = shape if name == "ownership" else (actions,)
        if array is not None and array.shape != expected:
            raise ValueError(f"{name} must be an array of shape {list(expected)}, got {list(array.shape)}")
    if show is not None:
        check_choice("show", show, SHOWN)
        # The arrays that are needed: nearly always the one that `show` names.
        needed = {"difference": ("q", "visits"), "q+priors": ("q", "priors")}.get(show, (show,))
        if missing := [name for name in needed if arrays.get(name) is None]:
            raise ValueError(f"show={show!r} needs {' and '.join(missing)}, got none")
    return Overlay(**arrays, show=show)


def marked_actions(overlay: Overlay) -> list[int]:
    """Return the actions that get a disc: those with the greatest weights (`action_weights`), in descending order."""
    weights = action_weights(overlay)
    weights_are_priors = overlay.visits is None and overlay.priors is not None
    least = LEAST_PRIOR if weights_are_priors else 1e-9  # any weight above 0
    order = np.argsort(-weights, kind="stable")[:MOST_DISCS].tolist()
    return [action for action in order if weights[action] >= least]


def action_weights(overlay: Overlay) -> np.ndarray:
    """Return each action's weight, float64 [A]: its visits, or if they are None its prior, or else its win rate.

    Unknown win rates count as 0.  The array is empty if all three are None.
    """
    numbers = overlay.priors if overlay.visits is None else overlay.visits
    if numbers is None and overlay.q is not None:
        numbers = (1 + np.nan_to_num(overlay.q.astype(np.float64), nan=-1.0)) / 2
    return np.array([] if numbers is None else numbers, np.float64)


def disc_text(overlay: Overlay, action: int, best: int) -> str:
    """Return the number on an action's disc as text.

    Args:
        best: the action with the greatest weight, whose disc has a ring.
    """
    name = overlay.shown
    # The arrays that `name` needs are not None.  `getattr` hides their types, so that mypy asks for no checks.
    priors, visits, q = (getattr(overlay, field) for field in ("priors", "visits", "q"))
    if name == "visits":
        return short_count(int(visits[action]))
    if name == "priors":
        return f"{priors[action]:.0%}"
    rate = win_rate(q[action])
    if np.isnan(rate):  # unknown
        return "?"
    if name == "q+priors":
        return f"{rate + priors[action]:.2f}"
    if name == "difference" and action != best:
        difference = round(100 * (rate - win_rate(q[best])))
        return f"{difference:+d}".replace("-", "−").replace("+0", "±0")  # with a true minus sign
    return f"{rate:.0%}"


def win_rate(value: float) -> float:
    """Return a value of -1 .. 1 as a probability."""
    return (1 + float(value)) / 2


def short_count(count: int) -> str:
    """Return a count in at most four signs: "999", "1.2k", "12k", "1.2M"."""
    for size, letter in ((10**6, "M"), (10**3, "k")):
        if count >= 0.9995 * size:  # a count that would be rounded to "1000k" is "1.0M"
            digits = 1 if count < 9.95 * size else 0
            return f"{count / size:.{digits}f}{letter}"
    return str(count)


def discs(overlay: Overlay, spots: Sequence[Spot | None]) -> list[Shape]:
    """Return a disc for each marked action that has a spot: darker for a greater weight, the first with a ring.

    Args:
        spots: the spot of each action; None for an action without a point, such as a pass.
    """
    marked, weights = marked_actions(overlay), action_weights(overlay)  # marked: the best action first
    shapes: list[Shape] = []
    for action in marked:
        spot = spots[action]
        if spot is None:
            continue
        share = weights[action] / weights[marked[0]]
        fill = mix(PALE, BLUE, share**0.7)  # the power tells small shares apart
        if action == marked[0]:  # with white between ring and disc, so that the ring is seen without colours
            shapes.append(Circle(spot.x, spot.y, 0.95 * spot.radius, Style(WHITE, ORANGE, 0.13 * spot.radius)))
            shapes.append(Circle(spot.x, spot.y, 0.81 * spot.radius, Style(fill)))
            spot = spot._replace(radius=0.9 * spot.radius)  # the ring leaves less room for the texts
        else:
            shapes.append(Circle(spot.x, spot.y, 0.9 * spot.radius, Style(fill, BLUE, 0.05 * spot.radius)))
        shapes += disc_texts(overlay, action, marked[0], spot, ink_on(fill))
    return shapes


def disc_texts(overlay: Overlay, action: int, best: int, spot: Spot, ink: str) -> list[Text]:
    """Return the texts on a disc: its number, and below it the visits if they are known and are not that number."""
    text = disc_text(overlay, action, best)
    if overlay.visits is None or overlay.shown == "visits":
        return [Text(spot.x, spot.y, text, font_size(text, ONE_LINE) * spot.radius, ink, bold=True)]
    count = short_count(int(overlay.visits[action]))
    return [
        Text(spot.x, spot.y - 0.25 * spot.radius, text, font_size(text, TWO_LINES) * spot.radius, ink, bold=True),
        Text(spot.x, spot.y + 0.38 * spot.radius, count, font_size(count, 0.9 * TWO_LINES) * spot.radius, ink),
    ]


def font_size(text: str, most: float) -> float:
    """Return the font size at which a text fits on a disc, as a share of the radius; `most` for one or two letters."""
    letters_in_disc = 2.2  # so many letters of the size `most` are as wide as the room for a text
    wider_room = 1.25  # for three letters or more, which may come nearer to the disc's edge
    return most if len(text) <= 2 else letters_in_disc * most / len(text) * wider_room


def ownership_squares(ownership: np.ndarray, stones: Sequence[int], spots: Sequence[Spot]) -> list[Shape]:
    """Return a square for each point that a side is expected to own; a surer owner has a larger square.

    A square on a stone has the other side's colour, and its size shows how surely the stone is lost.

    Args:
        ownership: float [height, width], -1 .. 1, 1 Black's.
        stones: on each point, 1 Black, -1 White, 0 none.
    """
    shapes: list[Shape] = []
    for point, (owner, stone) in enumerate(zip(ownership.ravel().tolist(), stones, strict=True)):
        certainty = (1 - stone * owner) / 2 if stone else abs(owner)  # that the stone is lost, or the point owned
        if certainty < LEAST_SQUARE:
            continue
        is_black = stone < 0 if stone else owner > 0
        half = LARGEST_SQUARE * spots[point].radius * certainty**0.5
        style = Style(BLACK if is_black else WHITE, WHITE if is_black else EDGE, 0.05 * spots[point].radius)
        shapes.append(Rect(spots[point].x - half, spots[point].y - half, 2 * half, 2 * half, style))
    return shapes


def line_stones(line: Mapping[int, tuple[int, int]], spots: Sequence[Spot]) -> list[Shape]:
    """Return the expected moves as numbered stones, each with a blue ring that tells it from stones on the board."""
    shapes: list[Shape] = []
    seen: set[int] = set()
    for number, (point, colour) in line.items():
        if point in seen:  # only the first move on a point is drawn
            continue
        seen.add(point)
        spot = spots[point]
        fill, ink = (BLACK, WHITE) if colour > 0 else (WHITE, BLACK)
        shapes.append(Circle(spot.x, spot.y, 0.93 * spot.radius, Style(fill, BLUE, 0.14 * spot.radius)))
        shapes.append(Text(spot.x, spot.y, str(number), 0.85 * spot.radius, ink, bold=True))
    return shapes


def legend(overlay: Overlay, points: Sequence[int], to_text: Callable[[int], str]) -> list[str]:
    """Return sentences that say what the signs of an overlay mean, and that list the marked actions without a point.

    If no marked action has a point, as in a game without cells, this list is the only sentence.

    Args:
        points: the point of each action, -1 for an action without a point.
        to_text: returns the name of an action.
    """
    marked = [] if overlay.line else marked_actions(overlay)  # the best action first
    outside = [action for action in marked if points[action] < 0]
    listed = ", ".join(f"{to_text(move)} {disc_text(overlay, move, best=marked[0])}" for move in outside[:MOST_NAMED])
    sentences = []
    if marked and overlay.shown is not None:
        if outside == marked:  # there are no discs
            return [f"Moves, with the {SHOWN[overlay.shown]}: {listed}."]
        sentences.append(disc_sentence(overlay, overlay.shown))
    if outside:
        sentences.append(f"Off the board: {listed}.")
    if overlay.ownership is not None:
        squares = "Squares: whose the point becomes, larger where it is surer; on a stone: how surely it is lost."
        sentences.append(squares)
    if overlay.line:
        sentences.append("Ringed stones: the expected moves.")
    return sentences


def disc_sentence(overlay: Overlay, shown: str) -> str:
    """Return the sentence of the legend about discs: their numbers, their colours, and the ring.

    Args:
        shown: which number is written on the discs, a key of SHOWN.
    """
    below = ", visits below" if overlay.visits is not None and shown != "visits" else ""
    # `action_weights` colours the discs by the first field of WEIGHT_WORDS that the overlay has.
    darker, ringed = next(words for words, field in WEIGHT_WORDS if getattr(overlay, field) is not None)
    return f"On a disc: {SHOWN[shown]}{below}. Darker: {darker}; ringed: the {ringed}."

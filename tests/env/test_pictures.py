"""Pictures of positions: stones where they are, marks, numbers and names, in every game."""

import pytest

from alphago import ConnectFourEnv, GameEnv, GoEnv, GomokuEnv, IllegalMove, OwareEnv, ReversiEnv
from alphago.examples.tic_tac_toe import TicTacToeEnv
from tests.diagrams import play, position
from tests.drawing.reading import root_of, shapes, texts, title
from tests.random_games import random_game
from tests.ui.own_games import LeaningEnv, NimEnv, RingEnv

BLACK, WHITE, EDGE = "#161616", "#ffffff", "#333333"


SMALL = [GomokuEnv(15), ConnectFourEnv(), ReversiEnv(8), OwareEnv(), TicTacToeEnv(), NimEnv(), LeaningEnv(), RingEnv()]
GAMES = [*(GoEnv(size) for size in (2, 5, 9, 19, 25)), *SMALL]
WITH_STONES = [env for env in GAMES if not isinstance(env, (OwareEnv, NimEnv, LeaningEnv, RingEnv))]


def stones(svg: str, own: tuple[str, str] | None = None) -> dict[str, int]:
    """How many stones of each colour a picture has; own: the game's colours."""
    colours = {"black": (BLACK, BLACK), "white": (WHITE, EDGE)}
    if own is not None:
        return {name: len(shapes(svg, "circle", fill=fill)) for name, fill in zip(colours, own, strict=True)}
    return {name: len(shapes(svg, "circle", fill=fill, stroke=edge)) for name, (fill, edge) in colours.items()}


@pytest.mark.parametrize("env", GAMES, ids=str)
@pytest.mark.parametrize("moves", [0, 7, 1000])
def test_every_game_can_be_drawn(env: GameEnv, moves: int) -> None:
    now = random_game(env, 1, min(moves, 60))[-1]
    for look in ({}, {"numbers": True}, {"coordinates": False, "caption": ""}, {"priors": now.legal_mask / 2}):
        svg = now.svg(**look)
        width, height = (float(root_of(svg).get("viewBox").split()[i]) for i in (2, 3))  # type: ignore[union-attr]
        for text in shapes(svg, "text"):
            assert 0 <= float(text.get("x") or 0) <= width
            assert 0 <= float(text.get("y") or 0) <= height
    assert now._repr_svg_() == now.svg()


@pytest.mark.parametrize("env", WITH_STONES, ids=str)
def test_stones_are_those_of_the_board(env: GameEnv) -> None:
    now = random_game(env, 1, 30)[-1]
    expected = {"black": int((now.board == 1).sum()), "white": int((now.board == -1).sum())}
    assert stones(now.svg(), env.board_view.colours) == expected


def test_boards_of_games_of_ones_own() -> None:
    """They are drawn where their games say: on a ring of lines, and in a frame that leans, in other colours."""
    ring = RingEnv().position().after(["r1", "r3"]).svg(numbers=True)
    assert len(shapes(ring, "polyline")) == 6 + 1  # and the bar below the last stone's number
    assert stones(ring) == {"black": 1, "white": 1}
    top, side = (shapes(ring, "circle", fill=fill, stroke=edge)[0] for fill, edge in ((BLACK, BLACK), (WHITE, EDGE)))
    right, down = (float(side.get(axis) or 0) - float(top.get(axis) or 0) for axis in ("cx", "cy"))
    assert (right, down) == (pytest.approx(40 * 1.8 * 3**0.5 / 2, abs=0.1), pytest.approx(40 * 2.7, abs=0.1))
    leaning = LeaningEnv().position().after("DDD").svg()
    red, yellow = shapes(leaning, "circle", fill="#a01818"), shapes(leaning, "circle", fill="#f4d03f")
    lowest, middle, upper = (float(one.get("cx") or 0) for one in (red[1], yellow[0], red[0]))
    assert (middle - lowest, upper - middle) == (20, 20)


def test_the_last_move_is_ringed() -> None:
    now = play(GoEnv(5).position(), "B C3, W D4")
    (ring,) = shapes(now.svg(), "circle", fill="none")
    (stone,) = shapes(now.svg(), "circle", fill=WHITE, stroke=EDGE)
    assert (ring.get("cx"), ring.get("cy"), ring.get("stroke")) == (stone.get("cx"), stone.get("cy"), BLACK)
    assert shapes(now.play("pass").svg(), "circle", fill="none") == []


def test_ko_is_a_square() -> None:
    before = position(". . . . . / . X O . . / X . X O . / . X O . . / . . . . .".replace("/", "\n"), to_play="white")
    now = before.play("B3")
    assert len(now.ko_points) == 1
    assert len(shapes(now.svg(), "rect", stroke="#2b2113")) == 1
    assert shapes(before.svg(), "rect", stroke="#2b2113") == []


def test_numbers_of_moves() -> None:
    now = play(GoEnv(5).position(), "B C3, W D4, B pass, W A1")
    assert sorted(texts(now.svg(numbers=True, coordinates=False, caption=""))) == ["1", "2", "4"]
    assert texts(now.svg(numbers=2, coordinates=False, caption="")) == ["4"]


def test_a_captured_stone_takes_its_number_along() -> None:
    """White D4 is captured and Black plays there later."""
    now = play(GoEnv(5).position(), "B D5, W D4, B C4, W A1, B E4, W A2, B D3, W A3, B D4")
    assert now.captures == (1, 0)
    numbers = texts(now.svg(numbers=True, coordinates=False, caption=""))
    assert sorted(map(int, numbers)) == [1, 3, 4, 5, 6, 7, 8, 9]


def test_stones_fall_and_are_marked_where_they_land() -> None:
    now = ConnectFourEnv().position().play("D").play("D")
    heights = {one.text: float(one.get("y") or 0) for one in shapes(now.svg(numbers=True), "text")}
    assert heights["1"] > heights["2"]  # the second lies on the first
    assert now.points_of_actions.tolist() == [35, 36, 37, 24, 39, 40, 41]


def test_captions_say_who_is_to_move_and_who_won() -> None:
    assert " ".join(texts(GoEnv(5, komi=0.5).position().svg())).endswith("move 0: Black to play; komi 0.5")
    ended = play(GoEnv(5, komi=0.5).position(), "B C3, W pass, B pass")
    assert ended.caption == "move 3: game over, B+24.5; komi 0.5"
    assert play(GoEnv(5).position(), "B C3, W pass").caption == "move 2: Black to play, after a pass; komi 7.5"
    assert title(ended.svg()) == "Go 5x5, move 3: game over, B+24.5; komi 0.5"
    assert NimEnv().position().caption == "move 0: Black to play"
    assert texts(GoEnv(5).position().svg(caption="a < b"))[-1] == "a < b"


def test_oware_has_its_seeds_and_stores() -> None:
    now = OwareEnv().position(houses=[1, 2, 3, 4, 5, 6, 1, 0, 0, 0, 0, 2], margin=4)
    assert len(shapes(now.svg(), "circle", fill="#3f2a14")) == 24
    told = texts(now.svg())
    assert {"Black: 14", "White: 10"} <= set(told)
    assert told.count("A") == told.count("F") == 2
    assert texts(now.svg(coordinates=False)).count("A") == 0


@pytest.mark.parametrize(("moves", "emptied"), [("B", 1), ("BC", 6 + 2)])
def test_oware_marks_the_house_that_was_emptied(moves: str, emptied: int) -> None:
    svg = OwareEnv().position().after(moves).svg()
    (ring,), house = shapes(svg, "circle", fill="none"), shapes(svg, "circle", fill="#d3b377")[emptied]
    assert (ring.get("cx"), ring.get("cy")) == (house.get("cx"), house.get("cy"))


def test_a_plain_game_is_drawn_as_its_planes() -> None:
    now = NimEnv().position().play(1).play(0)
    told = texts(now.svg())
    assert (told[0], told[-1]) == ("plane 0", "move 2: Black to play")
    assert len(shapes(now.svg(), "rect", fill=BLACK)) == 4  # the matches that are left


def test_an_expected_line() -> None:
    now = GoEnv(5).position().play("C3")
    svg = now.svg(line="D4 C4")
    ringed = shapes(svg, "circle", stroke="#0b5394")
    assert [one.get("fill") for one in ringed] == [WHITE, BLACK]
    assert now.svg(line=[8, 7]) == svg
    with pytest.raises(IllegalMove, match="illegal move C3: Black has a stone there"):
        now.svg(line="C3")

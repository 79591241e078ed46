"""Sheets of final positions: who had which colour, and how it ended."""

from pathlib import Path

import pytest

from alphago import ConnectFourEnv, GameEnv, GoEnv, MatchResult, plot_strength
from alphago.arena.match_result import MatchGame
from tests.drawing.reading import shapes, texts

GO = GoEnv(5, komi=0.5)


def match(env: GameEnv, *games: tuple[str, float]) -> MatchResult:
    """A match of games as (moves, the first player's outcome)."""
    played = [tuple(env.from_text(move) for move in moves.split()) for moves, _ in games]
    return MatchResult.of(env, [MatchGame(i, games[i][1], moves) for i, moves in enumerate(played)])


GAMES = (("C3 pass pass", 1.0), ("C3 pass pass", -1.0), ("C3 D3", 1.0), ("pass pass", 1.0))


def test_who_won_by_how_much() -> None:
    """Game 3 was given up; in games 2 and 4 the first player has White."""
    told = texts(match(GO, *GAMES).svg())
    assert told[-4:] == ["1: Black, won by 24.5", "2: White, lost by 24.5", "3: Black, won", "4: White, won by 0.5"]
    assert " ".join(told[:-4]).startswith("3 wins (2 as Black, 1 as White)")


def test_games_without_points() -> None:
    result = match(ConnectFourEnv(), ("D E D E D E D", 1.0), ("D E D E D E D", -1.0))
    assert texts(result.svg())[-2:] == ["1: Black, won", "2: White, lost"]


def test_only_so_many() -> None:
    result = match(GO, *GAMES)
    assert [text[0] for text in texts(result.svg(most=2)) if ": " in text and text[1] == ":"] == ["1", "2"]
    boards = shapes(result.svg(columns=2), "rect", fill="#eacf9a")
    assert len({board.get("x") for board in boards}) == len({board.get("y") for board in boards}) == 2


def test_a_notebook_shows_it() -> None:
    assert match(GO, *GAMES)._repr_svg_() == match(GO, *GAMES).svg()
    unknown = MatchResult((MatchGame(0, 1.0, (0,)),))
    assert unknown._repr_svg_() is None
    with pytest.raises(ValueError, match=r"final positions, got 1 games of None"):
        unknown.svg()
    assert MatchResult.of(GO, [])._repr_svg_() is None


def won(wins: int, games: int = 20) -> MatchResult:
    """A match of so many wins, in games that all differ."""
    return MatchResult(tuple(MatchGame(i, 1.0 if i < wins else -1.0, (i,)) for i in range(games)))


def test_a_curve_for_each_value_of_either_setting(tmp_path: Path) -> None:
    results = {1: {0: won(4), 64: won(11)}, "four": {64: won(20)}}
    picture = str(plot_strength(results, ("tower height", "readouts"), tmp_path / "s.svg"))
    assert (tmp_path / "s.svg").read_text().strip() == picture
    for text in ("tower height 1", "tower height four", "readouts 0", "readouts 64", "100%", ">four<"):
        assert text in picture
    assert picture.count("readouts 64") == 1


@pytest.mark.parametrize("results", [{}, {1: {}}, {1: {2: 0.5}}, {1: 3}, {1: won(1)}, [won(1)], won(1)])
def test_what_is_no_result_of_a_match(results: object) -> None:
    with pytest.raises(TypeError, match="results must be results of evaluate, such as"):
        plot_strength(results)  # type: ignore[arg-type]

"""`plot_strength`: win rates of matches against two settings."""

from pathlib import Path

import numpy as np
import pytest

from alphago.arena.match_result import MatchResult
from alphago.arena.strength_picture import plot_strength


def match(wins: int, games: int = 20) -> MatchResult:
    """A match of so many wins, in games that all differ."""
    return MatchResult(np.array([1] * wins + [-1] * (games - wins), np.float32), tuple((i,) for i in range(games)))


def test_a_curve_for_each_value_of_either_setting(tmp_path: Path) -> None:
    results = {1: {0: match(4), 64: match(11)}, "four": {64: match(20)}}
    picture = str(plot_strength(results, ("tower height", "readouts"), tmp_path / "s.svg"))
    assert (tmp_path / "s.svg").read_text().strip() == picture
    for text in ("tower height 1", "tower height four", "readouts 0", "readouts 64", "100%", ">four<"):
        assert text in picture
    assert picture.count("readouts 64") == 1


@pytest.mark.parametrize("results", [{}, {1: {}}, {1: {2: 0.5}}, {1: 3}, {1: match(1)}, [match(1)], match(1)])
def test_what_is_no_result_of_a_match(results: object) -> None:
    with pytest.raises(TypeError, match="results must be results of evaluate, such as"):
        plot_strength(results)  # type: ignore[arg-type]

"""The logs of a run: a damaged row costs that row, whatever is wrong with it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from alphago.training.history import append_row, number, read_rows, truncate

ROW: dict[str, Any] = {
    "judge": "watch",
    "opponent": "random",
    "games": 8,
    "seconds": 1.5,
    "win_rate": 0.5,
    "elo": float("-inf"),
    "moves": [{"moves": "D4 C3", "outcome": 1.0}, {"moves": "", "outcome": -1.0}],
}


@pytest.mark.parametrize(
    "damage",
    [
        {"moves": 5},
        {"moves": [{"moves": 5, "outcome": 1}]},
        {"moves": [{"moves": "D4"}]},
        {"moves": [{"moves": "D4", "outcome": "won"}]},
        {"opponent": 5},
        {"games": "8"},
        {"games": True},
        {"win_rate": "half"},
        {"accepted": "yes"},
        {"games": 10**400},
    ],
    ids=str,
)
def test_a_row_of_wrong_types(tmp_path: Path, damage: dict[str, Any]) -> None:
    path = tmp_path / "evaluations.jsonl"
    for row in (ROW, {**ROW, **damage}, {**ROW, "games": 9}):
        append_row(path, row)
    assert [row["games"] for row in read_rows(path, "opponent")] == [8, 9]


@pytest.mark.parametrize(
    "line", ["5", "[]", '"text"', "{", '"\xff"', "9" * 6000, '{"opponent": "x", "games": ' + "9" * 6000 + "}"]
)
def test_a_line_that_is_no_row(tmp_path: Path, line: str) -> None:
    path = tmp_path / "evaluations.jsonl"
    path.write_text(f"{json.dumps(ROW)}\n{line}\n{json.dumps(ROW)}\n", "latin-1")
    assert len(read_rows(path, "opponent")) == 2
    path.write_text(f"{line}\n", "latin-1")
    with pytest.raises(ValueError, match=f"^{path} is not what a run writes: no line of it is a JSON object with 'opp"):
        read_rows(path, "opponent")


@pytest.mark.parametrize("value", [None, True, "1", float("nan"), float("inf"), 10**400, [1]])
def test_what_is_no_finite_number(value: object) -> None:
    assert number({"key": value}, "key") is None
    assert number({}, "key") is None


def test_a_log_that_claims_to_be_huge(tmp_path: Path) -> None:
    """Resuming cuts it to what the state knows; reading it is refused."""
    path = tmp_path / "metrics.jsonl"
    append_row(path, ROW)
    length = path.stat().st_size
    os.truncate(path, 20 * 10**9)
    with pytest.raises(ValueError, match=rf"^{path} is too large"):
        read_rows(path, "seconds")
    assert truncate(path, length) == ""
    assert len(read_rows(path, "seconds")) == 1

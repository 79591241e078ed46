"""Exams as files: what is read, what is written, and what is said of files that are wrong."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alphago.exams.positions import VERSION, find_exam, header_line, packaged_exams, position_line, read_exam
from tests.exams.small_exams import ENV, SIZE, exam_of, row, write


class TestReading:
    def test_a_position(self, tmp_path: Path) -> None:
        exam = exam_of(tmp_path / "x", row("B2 A1", {"C3": [0.0, 0.0], "pass": [7.25, 0.5]}))
        (one,) = exam.positions
        assert (exam.size, len(exam), exam.provenance, exam.judge) == (SIZE, 1, {}, "")
        assert (one.komi, one.black_win, one.black_lead) == (0.5, 0.75, 2.0)
        assert [ENV.to_text(action) for action in (*one.moves, one.best)] == ["B2", "A1", "C3"]
        assert one.points[ENV.from_text("C3")] == 0
        assert (one.points[ENV.pass_action], one.rates[ENV.pass_action]) == (7.25, 0.5)
        assert np.isnan(one.points).tolist() == np.isnan(one.rates).tolist() == (~exam.boards[0].legal_mask).tolist()
        assert exam.points.shape == exam.rates.shape == (1, 10)

    def test_a_header(self, tmp_path: Path) -> None:
        judge = {"program": "katago 1", "networks": ["a", "b"]}
        exam = exam_of(tmp_path / "x", {"exam": VERSION, "size": SIZE, "judge": judge, "seed": 3}, row())
        assert exam.provenance == {"judge": judge, "seed": 3}
        assert exam.judge == "judged by katago 1 with a and b"
        for odd, text in ((5, ""), ({"program": 5, "networks": 3}, "judged by 5")):
            assert exam_of(tmp_path / "x", {"exam": VERSION, "size": SIZE, "judge": odd}, row()).judge == text

    def test_what_is_written_is_read(self, tmp_path: Path) -> None:
        exam = exam_of(tmp_path / "x", row("B2 pass", {"A1": [0.0, 0.0], "C3": [12.34, 0.123]}, black_win=0.031))
        lines = header_line(SIZE, {"seed": 1}) + b"".join(position_line(ENV, one, drawn=4) for one in exam.positions)
        (tmp_path / "y").write_bytes(lines)
        again = read_exam(tmp_path / "y")
        assert again.provenance == {"seed": 1}
        assert again.positions[0][:5] == exam.positions[0][:5]
        np.testing.assert_array_equal(again.points, exam.points)
        np.testing.assert_array_equal(again.rates, exam.rates)


BAD: list[tuple[Any, str]] = [
    ([1], "must be a JSON object, got \\[1\\]"),
    ({**row(), "size": 4}, "size must be 3 as in the lines before, got 4"),
    ({**row(), "size": "3"}, "size must be an integer from 2 to 25, got '3'"),
    ({key: value for key, value in row().items() if key != "lost"}, "must have size, .* got none of lost"),
    (row(komi=0.3), "komi must be a multiple of 0.5"),
    (row(black_win=1.2), "black_win must be a number from 0 to 1, got 1.2"),
    (row(black_lead=None), "black_lead must be a finite number, got None"),
    ({**row(), "moves": "B2 B2"}, "illegal move B2"),
    ({**row(), "moves": "B2 Z9"}, "Z9"),
    ({**row(), "best": "B2"}, "illegal move B2"),
    ({**row(), "moves": "pass pass"}, "the game must go on, got moves that end it"),
    ({**row(), "lost": []}, "lost must be an object with every legal move, got \\[\\]"),
    ({**row(), "lost": {"pass": [0, 0]}}, "lost must have every legal move, got none for A3 B3 C3 A2 C2 A1 B1 C1"),
    (row("B2", {"B2": [1, 1]}), "lost must have legal moves only, got B2"),
    (row("B2", {"A1": [3]}), "the loss of A1 must be \\[points, win rate\\], got \\[3\\]"),
    (row("B2", {"A1": [-1, 0]}), "the points that A1 loses must be a number >= 0, got -1"),
    (row("B2", {"A1": [1, 1.5]}), "the win rate that A1 loses must be a number from 0 to 1, got 1.5"),
]


class TestDamagedFiles:
    @pytest.mark.parametrize(("bad", "message"), BAD, ids=[message for _, message in BAD])
    def test_the_line_is_named(self, tmp_path: Path, bad: Any, message: str) -> None:
        path = write(tmp_path / "x", row(), row("B2 A1"), bad)
        with pytest.raises(ValueError, match=f"^{path}, line 3.*{message}"):
            read_exam(path)

    def test_a_line_that_is_cut_off(self, tmp_path: Path) -> None:
        path = write(tmp_path / "x", row(), row("B2 A1"))
        path.write_bytes(path.read_bytes()[:-40])
        with pytest.raises(ValueError, match=f"^{path}, line 2 must be a JSON object, got "):
            read_exam(path)

    def test_another_version_and_no_positions(self, tmp_path: Path) -> None:
        for version, message in ((99, "the format must be of version 1, got 99"), (VERSION, "position, got none")):
            with pytest.raises(ValueError, match=message):
                exam_of(tmp_path / "x", {"exam": version, "size": 3})

    def test_compressed_and_cut_off(self, tmp_path: Path) -> None:
        data = gzip.compress(write(tmp_path / "x", row()).read_bytes())
        (tmp_path / "y").write_bytes(data[:-9])
        with pytest.raises(ValueError, match=f"^{tmp_path / 'y'} is damaged"):
            read_exam(tmp_path / "y")

    def test_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match=r"the exam /.*nothing cannot be read"):
            find_exam("~/nothing")
        with pytest.raises(ValueError, match="is no file"):
            read_exam(tmp_path)


class TestPackaged:
    def test_they_are_small_and_say_who_judged(self) -> None:
        files = packaged_exams()
        assert list(files) == [7, 9, 13]
        assert sum(path.stat().st_size for path in files.values()) <= 300_000
        for size in files:
            exam = find_exam(None, size)
            assert exam.size == size
            assert exam.judge == "judged by KataGo 1.17.2 with b10c384h6nbttflrs"
            assert len({json.dumps(one.moves) for one in exam.positions}) == len(exam) >= 26
            assert all(0.03 <= one.black_win <= 0.97 for one in exam.positions)
            assert np.nanmin(exam.points, axis=1).max() == np.nanmin(exam.rates, axis=1).max() == 0

    def test_by_name(self) -> None:
        assert find_exam("7x7").size == 7
        with pytest.raises(ValueError, match="an exam for the board, got 5x5: 7x7, 9x9, 13x13 come with the package"):
            find_exam(None, 5)

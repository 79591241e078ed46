"""Exams are made: with this package's own engine, and with one that is killed in the middle."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import alphago
from alphago import GoEnv, NeuralNet
from alphago.arena.line_process import EngineError
from alphago.exams import drawn_positions as drawn_module
from alphago.exams.drawn_positions import DrawnPosition, MakeSettings, draw, read_games, symmetric_key
from alphago.exams.exam_maker import MOST_POSITIONS_READ, make_exam
from alphago.exams.positions import read_exam
from tests.exams.small_exams import ENV, REFUSED, engine, save_games

TEN = MakeSettings(positions=10, first_ply=1, per_game=3, komi=0.5)
TWENTY = replace(TEN, positions=20)


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve games on 3x3."""
    return save_games(tmp_path_factory.mktemp("games"), 4, 12)


def make(file: Path, engine: str, games: Path, making: MakeSettings = TEN) -> int:
    return make_exam(file, engine, [games], 3, making)


def rows_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_bytes().splitlines()[1:]]


@pytest.mark.slow
def test_one_by_our_own_engine(games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By `alphago analysis` as another process: its network's own opinion, so it loses next to nothing itself."""
    net = NeuralNet(GoEnv(3, komi=0.5), tower_height=1, channels=8)
    net.save(tmp_path / "net.safetensors")
    command = f"{sys.executable} -m alphago analysis {tmp_path / 'net.safetensors'} --threads 1"
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    told: list[tuple[int, int]] = []
    making = MakeSettings(positions=4, first_ply=1, komi=0.5)
    assert make_exam(tmp_path / "exam", command, [games], 3, making, tell=lambda *both: told.append(both)) == 4
    assert told == [(done, 4) for done in range(5)]
    exam = read_exam(tmp_path / "exam")
    assert exam.judge.startswith(f"judged by alphago {alphago.__version__} with NeuralNet(GoEnv(3, komi=0.5)")
    assert exam.provenance["visits"] == {"position": 12, "move": 1}
    for one, position in zip(exam.positions, exam.positions_of(net.env), strict=True):
        legal = np.flatnonzero(position.legal_mask)
        after = [position.play(int(action)) for action in legal]
        values = np.array([p.result if p.is_over else net(p)[1] for p in after])
        mine = (1 + position.to_play * values) / 2
        np.testing.assert_allclose(one.rates[legal], mine.max() - mine, atol=0.01)
    assert alphago.exam(net, 0, file=tmp_path / "exam").grades[0].positions == 4


@pytest.mark.usefixtures("no_engine_is_left")
class TestJudging:
    def test_the_losses_are_of_the_side_to_move(self, games: Path, tmp_path: Path) -> None:
        """The engine's answers are known: win rate and lead belong together, and the best move loses nothing."""
        assert make(tmp_path / "exam", engine(tmp_path), games) == 10
        exam = read_exam(tmp_path / "exam")
        movers = {board.to_play for board in exam.boards}
        assert movers == {1, -1}
        for one, position in zip(exam.positions, exam.boards, strict=True):
            assert one.black_win == pytest.approx(0.5 + one.black_lead * 0.8 / 6, abs=2e-3)
            assert drawn_module.LEAST_WIN <= one.black_win <= 1 - drawn_module.LEAST_WIN
            assert abs(one.black_lead) <= 3 * drawn_module.MOST_LEAD
            going = [int(a) for a in np.flatnonzero(position.legal_mask) if not position.play(int(a)).is_over]
            rates, points = one.rates[going], one.points[going]
            np.testing.assert_allclose(rates - rates.min(), (points - points.min()) * 0.8 / 6, atol=3e-3)
            assert np.nanmin(one.points) == np.nanmin(one.rates) == 0
            assert np.isfinite(one.points[position.legal_mask]).all()

    def test_a_move_that_ends_the_game_is_scored(self, tmp_path: Path) -> None:
        """After B2 and a pass Black's pass wins by 8.5: the engine is not asked what it would say."""
        one = DrawnPosition(0, ENV.position(komi=0.5).after(["B2", "pass"]), root=(0.5, 1.0))
        one.after = {0: (0.6, 3.0), 1: (0.9, 2.0), ENV.pass_action: (1.0, 8.5)}
        judged = one.result()
        assert judged.best == ENV.pass_action
        assert judged.points[[0, 1, ENV.pass_action]].tolist() == [5.5, 6.5, 0]
        assert judged.rates[[0, 1]].tolist() == pytest.approx([0.4, 0.1])
        white = DrawnPosition(0, ENV.position(komi=0.5).after(["B2"]), root=(0.5, 1.0), after=one.after).result()
        assert white.points[[0, 1, ENV.pass_action]].tolist() == [1, 0, 6.5]
        assert white.rates[[0, 1, ENV.pass_action]].tolist() == pytest.approx([0, 0.3, 0.4])
        assert white.best == 0  # 1 point and nothing of the win rate, instead of nothing and 0.3


class TestDrawing:
    def test_no_position_twice(self, games: Path) -> None:
        records = read_games([games], ENV, MOST_POSITIONS_READ)
        drawn = list(draw(ENV, records, MakeSettings(per_game=20, first_ply=0)))
        keys = {symmetric_key(one.position) for one in drawn}
        assert len(keys) == len(drawn) > 12
        assert [one.number for one in drawn] == list(range(len(drawn)))
        assert sum(not one.position.moves for one in drawn) == 1

    def test_games_with_a_skipped_turn_are_left_out(self, tmp_path: Path) -> None:
        (tmp_path / "skipped.sgf").write_text("(;SZ[3]RE[B+R];B[aa];B[bb];W[cc])")
        with pytest.raises(ValueError, match="without skipped turns, got none"):
            read_games([tmp_path], ENV, MOST_POSITIONS_READ)

    def test_a_symmetry_is_the_same_position(self) -> None:
        start = ENV.position(komi=0.5)
        assert symmetric_key(start.after(["A1", "B2"])) == symmetric_key(start.after(["C3", "B2"]))
        assert symmetric_key(start.after(["A1", "B2"])) != symmetric_key(start.after(["A2", "B2"]))
        assert symmetric_key(start) != symmetric_key(ENV.position(komi=1.5))

    def test_limits(self, games: Path) -> None:
        making = MakeSettings(first_ply=2, last_ply=4, per_game=5, komi=2.5, seed=3)
        drawn = list(draw(ENV, read_games([games], ENV, MOST_POSITIONS_READ), making))
        assert {len(one.position.moves) for one in drawn} <= {2, 3, 4}
        assert {one.position.komi for one in drawn} == {2.5}


@pytest.mark.usefixtures("no_engine_is_left")
class TestResuming:
    def test_after_the_engine_failed(self, games: Path, tmp_path: Path) -> None:
        with pytest.raises(EngineError, match="no more"):
            make(tmp_path / "exam", engine(tmp_path, 60, REFUSED), games)
        before = rows_of(tmp_path / "exam")
        assert 0 < len(before) < 10
        with open(tmp_path / "exam", "ab") as file:
            file.write(b'{"size": 3, "komi": 0.5, "mov')  # as a kill leaves it
        assert make(tmp_path / "exam", engine(tmp_path), games) == 10
        assert rows_of(tmp_path / "exam")[: len(before)] == before

    def test_more_positions(self, games: Path, tmp_path: Path) -> None:
        """A finished exam grows, and asks nothing if it has enough; other settings, and other rows, are refused."""
        few = replace(TEN, positions=4)
        assert make(tmp_path / "exam", engine(tmp_path), games, few) == 4
        assert make(tmp_path / "exam", engine(tmp_path, 0, "sys.exit(1)"), games, few) == 4
        assert make(tmp_path / "exam", engine(tmp_path), games) == 10
        make(tmp_path / "whole", engine(tmp_path), games)
        message = "got visits position 50, where it was begun with 12; drawn seed 5, where it was begun with 0: "
        with pytest.raises(ValueError, match=f"exam must have been begun by the same call, {message}"):
            make(tmp_path / "exam", engine(tmp_path), games, replace(TWENTY, seed=5, visits=50))
        assert (tmp_path / "exam").read_bytes() == (tmp_path / "whole").read_bytes()
        with open(tmp_path / "exam", "ab") as file:
            file.write(b'{"drawn": "10"}\n')
        with pytest.raises(ValueError, match="exam, line 12: drawn must be an integer >= 0, got '10'"):
            make(tmp_path / "exam", engine(tmp_path), games, TWENTY)

    def test_another_file_is_not_overwritten(self, games: Path, tmp_path: Path) -> None:
        for text, message in (
            ("my diary", "must be an exam that was begun, or a new file"),
            ("my diary\n", "line 1 must be a JSON object, got my diary"),
            ('{"a": 1}\n', "must have been begun by the same call"),
        ):
            (tmp_path / "diary").write_text(text)
            with pytest.raises(ValueError, match=f"diary,? {message}"):
                make(tmp_path / "diary", engine(tmp_path), games)
            assert (tmp_path / "diary").read_text() == text

"""Positions are labelled by an engine with known answers, and networks learn from the labels and say so."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from alphago import Dataset, GoEnv, import_games, load_model, train_supervised
from alphago.arena.line_process import EngineError
from alphago.cli import main
from alphago.exams.drawn_positions import LabelSettings, draw, read_games
from alphago.exams.position_labels import MOST_POSITIONS_READ, label_games
from alphago.records.game_conversion import GameFilter
from alphago.records.labels import OWNED, label_values
from alphago.training.call.summary import network_facts
from alphago.training.supervised.dataset_games import LabelledGames
from tests.exams.small_exams import ENV, REFUSED, engine, save_games

ALL = LabelSettings(positions=60, per_game=3, komi=0.5)
TEACHER = "oracle.py 0.7 with oracle.bin.gz, 1 readout"


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty games on 3x3."""
    return save_games(tmp_path_factory.mktemp("games"), 2, 40)


@pytest.fixture(scope="module")
def labelled(games: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of sixty labels."""
    folder = tmp_path_factory.mktemp("labelled")
    assert label_games(folder / "dataset", engine(folder), [games], 3, ALL) == 60
    return folder / "dataset"


def black_answer(moves: tuple[int, ...]) -> tuple[float, float]:
    """The engine's win rate and lead, in Black's view."""
    text = " ".join(ENV.to_text(move) for move in moves)
    share = hashlib.sha256(text.encode()).digest()[0] / 255
    return round(0.1 + 0.8 * share, 3), round(6 * share - 3, 2)


@pytest.mark.usefixtures("no_engine_is_left")
class TestLabels:
    def test_they_are_the_engines_answers_for_the_side_to_move(self, games: Path, labelled: Path) -> None:
        dataset = Dataset(labelled)
        dataset.verify()
        assert dataset.teacher == TEACHER
        assert len(np.unique(dataset.rows["hash"])) <= 40 < len(dataset.rows)  # all of a game will be in one split
        records = read_games([games], ENV, MOST_POSITIONS_READ)
        drawn = list(draw(ENV, records, ALL))[:60]
        assert {one.position.to_play for one in drawn} == {1, -1}
        for one, game in zip(drawn, dataset.games(), strict=True):
            assert tuple(game.moves[:-1].tolist()) == one.position.moves
            assert game.moves[-1] == records[one.game].moves[len(one.position.moves)]
            win, lead = black_answer(one.position.moves)
            mover = one.position.to_play
            assert game.label is not None
            assert float(game.label["win"]) == pytest.approx(win if mover > 0 else 1 - win)
            assert float(game.label["lead"]) == pytest.approx(lead * mover)
            owners = (1 - np.arange(9) / 4) * mover
            np.testing.assert_allclose(game.label["ownership"] / OWNED, owners, atol=1 / OWNED)
            np.testing.assert_allclose(game.label["policy"], np.array([0, *[0.1] * 8, 0.2]), atol=1e-3)

    def test_the_games_that_are_read_have_enough_positions(self, games: Path) -> None:
        """For the default number of labels; of a larger collection a sample is read."""
        assert 20 * LabelSettings().positions <= MOST_POSITIONS_READ
        some, more = (read_games([games], ENV, positions) for positions in (30, 60))
        assert 0 < len(some) < len(more) < len(read_games([games], ENV, MOST_POSITIONS_READ)) == 40

    def test_with_search_the_policy_is_the_shares_of_visits(self, games: Path, tmp_path: Path) -> None:
        settings = LabelSettings(positions=2, readouts=4, komi=0.5)
        label_games(tmp_path / "dataset", engine(tmp_path), [games], 3, settings)
        dataset = Dataset(tmp_path / "dataset")
        assert dataset.teacher.endswith(", 4 readouts")
        for game in dataset.games():
            assert game.label is not None
            assert game.label["policy"].tolist() == [0, 0, 0, 0, 0, 0, 0.75, 0, 0, 0.25]

    def test_a_stopped_call_goes_on(self, games: Path, labelled: Path, tmp_path: Path) -> None:
        to = tmp_path / "dataset"
        with pytest.raises(EngineError):
            label_games(to, engine(tmp_path, 25, REFUSED), [games], 3, ALL)
        assert len(Dataset(to)) == 25
        told: list[int] = []
        assert label_games(to, engine(tmp_path), [games], 3, ALL, tell=lambda done, total: told.append(done)) == 60
        assert told == list(range(told[0], 61))
        once, twice = (Dataset(path) for path in (labelled, to))
        for one, other in zip(once.games(), twice.games(), strict=True):
            assert one.label == other.label
            assert one.moves.tolist() == other.moves.tolist()
        assert label_games(to, engine(tmp_path), [games], 3, ALL) == 60

    def test_another_call_is_refused(self, games: Path, labelled: Path, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"begun by the same call, .*; readouts 2, where it was begun with 1"):
            label_games(labelled, engine(tmp_path), [games], 3, LabelSettings(readouts=2, per_game=3, komi=0.5))
        with pytest.raises(ValueError, match="a dataset of games, got a labelled one"):
            import_games([games], labelled)
        Path(tmp_path / "game.sgf").write_text("(;SZ[3]KM[0.5]RE[W+R];B[bb];W[aa])")
        assert import_games([tmp_path / "game.sgf"], tmp_path / "plain", filter=GameFilter(min_moves=0)).kept == 1
        with pytest.raises(ValueError, match="a labelled dataset, got one of games"):
            label_games(tmp_path / "plain", engine(tmp_path), [games], 3, ALL)


class TestLearning:
    def test_targets_are_turned_with_the_board(self, labelled: Path) -> None:
        env = GoEnv(3, komi=0.5, margin_weight=0.3)
        given = LabelledGames(env, Dataset(labelled))
        games = [Dataset(labelled).game(number) for number in range(8)]
        straight = given.rebuild(games, np.zeros(8, int), np.zeros(8, int))
        turned = given.rebuild(games, np.zeros(8, int), np.arange(8))
        labels = np.array([game.label for game in games])
        np.testing.assert_allclose(straight.value, label_values(labels, 0.3))
        np.testing.assert_allclose(straight.value, 0.7 * (2 * labels["win"] - 1) + 0.3 * np.tanh(labels["lead"] / 10))
        np.testing.assert_allclose(straight.policy.sum(axis=1), 1, rtol=1e-6)
        for name in ("policy", "ownership", "planes"):
            before, after = getattr(straight, name), getattr(turned, name)
            for row, (points, actions) in enumerate(zip(env.symmetries.points, env.symmetries.actions, strict=True)):
                places = actions if name == "policy" else points
                flat = before[row].reshape(-1, 9)[:, points] if name == "planes" else before[row][places]
                np.testing.assert_array_equal(after[row].reshape(flat.shape), flat)

    def test_a_taught_network_says_so_wherever_it_goes(self, labelled: Path, tmp_path: Path) -> None:
        sizes = {"tower_height": 0, "channels": 8, "threads": 1, "batch_size": 32, "bfloat16": False}
        env = GoEnv(3, komi=0.5)
        net = train_supervised(env, labelled, folder=tmp_path / "run", epochs=1, checks=1, reports=(), **sizes)
        again = load_model(tmp_path / "run")
        assert net.taught_by == again.taught_by == again.resized(GoEnv(4)).taught_by == TEACHER
        assert f"taught by {TEACHER}" in repr(again)
        assert network_facts(tmp_path / "run" / "weights.safetensors")["taught by"] == TEACHER
        resumed = train_supervised(env, labelled, folder=tmp_path / "run", epochs=2, reports=())
        resumed.save(tmp_path / "net.safetensors")
        assert load_model(tmp_path / "net.safetensors").taught_by == TEACHER
        rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
        assert all(row["ownership_loss"] > 0 for row in rows if "policy_loss" in row)


def test_the_command_with_an_own_network_as_the_teacher(
    games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("alphago.exams.position_labels.own_engine", lambda network: engine(tmp_path))
    words = f"label {games} --to {tmp_path / 'd'} --network 7x7 --positions 4 --board-size 3 --komi 0.5".split()
    assert main(words) == 0
    assert "4 labelled positions are in" in capsys.readouterr().out
    assert main(["sgf", str(tmp_path / "d")]) == 0
    assert f"labelled by {TEACHER} on " in capsys.readouterr().out

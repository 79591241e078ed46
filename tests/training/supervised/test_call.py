"""Supervised learning, and the defects of AlphaGOZero-TF's, each of which a test here would have caught."""

import re
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.env.kernels.go_planes import PASSED
from alphago.mcts.evaluator import HashEvaluator
from alphago.nn.loss import ILLEGAL
from alphago.nn.net import NeuralNet, load_model
from alphago.records.collection import sentence_of
from alphago.records.dataset import Dataset
from alphago.records.dataset_import import import_games
from alphago.records.dataset_writer import Split
from alphago.records.game_conversion import GameFilter
from alphago.records.record import records_to_bytes
from alphago.records.sgf import SgfGame, format_sgf
from alphago.training.call.selfplay_call import selfplay
from alphago.training.call.train_call import train
from alphago.training.history import read_history
from alphago.training.judges.prediction import make_predictions
from alphago.training.memory import Sample
from alphago.training.runs.config import read_config
from alphago.training.supervised.call import predict_games, train_supervised
from alphago.training.supervised.given_games import DatasetGames, RecordGames, given_games
from alphago.training.targets import LambdaReturns
from tests.training.small_runs import RandomGames, interrupt_at, run, same

ENV = GoEnv(5, komi=0.5)
SMALL = {"tower_height": 1, "channels": 8, "batch_size": 32, "device": "cpu", "reports": (), "threads": 1}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some two hundred games on 5x5 that are all different."""
    folder = tmp_path_factory.mktemp("games")
    (folder / "sgf").mkdir()
    generator = np.random.default_rng(0)
    for number in range(240):
        position = ENV.position(to_play="white" if number % 2 else "black")
        for _ in range(4):
            position = position.play(int(generator.choice(np.flatnonzero(position.legal_mask[:-1]))))
        while len(position.moves) < 12:  # then always the first legal point: that can be learned
            position = position.play(int(np.flatnonzero(position.legal_mask)[0]))
        setup, result = ({"to_play": "white"}, "W+R") if number % 2 else ({}, "B+R")
        game = SgfGame(5, position.moves, 0.5, setup, result=result)
        (folder / "sgf" / f"{number:03d}.sgf").write_bytes(format_sgf(game))
    import_games([folder / "sgf"], folder / "d", filter=GameFilter(min_moves=1), split=Split(0.15, 0.1))
    return folder / "d"


class TestSamples:
    @pytest.mark.parametrize("env", [ENV, GoEnv(5, 7, komi=0.5)], ids=["rules", "history"])
    def test_all_of_a_position(self, dataset: Path, env: GoEnv) -> None:
        """Planes, move and result of a drawn position are those of the position that the game replays.

        Seed defects 2 and 4: stored results all became wins, and history planes repeated the present board.
        """
        games = DatasetGames(env, Dataset(dataset))
        numbers = games.numbers["train"][:40]
        stored = [games.dataset.game(int(number)) for number in numbers]
        generator = np.random.default_rng(0)
        plies = np.array([generator.integers(len(game.moves)) for game in stored])
        symmetries = generator.integers(8, size=40)
        sample = games.rebuild(stored, plies, symmetries)
        for i, (game, ply, symmetry) in enumerate(zip(stored, plies, symmetries, strict=True)):
            position = env.position(**game.setup(env)).after(game.moves[:ply])
            points, actions = env.symmetries.points[symmetry], env.symmetries.actions[symmetry]
            planes = position.planes().reshape(env.planes, -1)[:, points]
            assert np.array_equal(sample.planes[i].reshape(env.planes, -1), planes)
            assert actions[sample.policy[i].argmax()] == game.moves[ply]
            assert sample.policy[i].sum() == 1
            assert sample.value[i] == game.row["outcome"] * position.to_play
        assert set(np.unique(sample.value)) == {-1.0, 1.0}

    @pytest.mark.parametrize("kind", ["dataset", "records"])
    def test_illegal_actions_may_be_marked(self, dataset: Path, kind: str) -> None:
        """Where the losses leave them out."""
        games = given_games(ENV, dataset if kind == "dataset" else selfplay(ENV, HashEvaluator(), 2, 40, seed=0))
        for masked in (False, True):
            games.make_memory(ENV, targets=LambdaReturns(0.0), masked=masked)
            sample = games.sample(30, np.random.default_rng(0))
            assert (sample.policy == ILLEGAL).any() == masked
            assert np.maximum(sample.policy, 0).sum(axis=1) == pytest.approx(np.ones(30), abs=1e-5)

    def every_ply(self, folder: Path, sgf: str, count: int) -> Sample:
        """The `count` plies of a game."""
        (folder / "a.sgf").write_text(sgf)
        import_games([folder / "a.sgf"], folder / "d", filter=GameFilter(min_moves=1), split=Split(0, 0))
        games = DatasetGames(ENV, Dataset(folder / "d"))
        return games.rebuild([games.dataset.game(0)] * count, np.arange(count), np.zeros(count, np.int64))

    def test_turns_that_are_skipped_weigh_nothing(self, tmp_path: Path) -> None:
        sample = self.every_ply(tmp_path, "(;SZ[5]KM[0.5]RE[B+R];B[aa];B[bb];B[cc])", 5)
        assert sample.policy.argmax(axis=1).tolist() == [0, 6, 6, 12, 12]  # nothing passes
        assert sample.weight.tolist() == [1, 0, 1, 0, 1]
        assert sample.value.tolist() == [1] * 5  # all of it is Black's
        assert not sample.planes[:, PASSED].any()
        assert sample.planes[4, 0].sum() == 2

    def test_score_and_owners_where_they_are_known(self, tmp_path: Path) -> None:
        wall = "AB[ca][cb][cc][cd][ce]AW[da][db][dc][dd][de]"
        sample = self.every_ply(tmp_path, f"(;SZ[5]KM[0.5]RE[B+4.5]{wall};B[];W[])", 2)
        assert sample.ended.tolist() == [1, 1]
        assert sample.policy.argmax(axis=1).tolist() == [25, 25]  # seed defect 6: passes could not be encoded
        assert sample.score.tolist() == [4.5, -4.5]
        assert sample.ownership.sum(axis=1).tolist() == [5, -5]  # 15 points are Black's, 10 White's
        assert sample.value.tolist() == [1, -1]


class TestGames:
    def test_what_a_dataset_may_be(self, dataset: Path, tmp_path: Path) -> None:
        records = selfplay(ENV, HashEvaluator(), 4, 40, seed=1, groups=1)
        (tmp_path / "games.npz").write_bytes(records_to_bytes(records))
        assert isinstance(given_games(ENV, dataset), DatasetGames)
        assert isinstance(given_games(ENV, Dataset(dataset)), DatasetGames)
        for one in (records, tmp_path, str(tmp_path / "games.npz"), dataset.parent / "sgf"):
            assert isinstance(given_games(ENV, one), RecordGames)
        matches = tmp_path / "run" / "matches"
        matches.mkdir(parents=True)
        games = (tmp_path / "games.npz").rename(matches / "gate.npz")
        with pytest.raises(ValueError, match="holds no game"):  # a run's matches are left out
            given_games(ENV, tmp_path / "run")
        assert isinstance(given_games(ENV, games), RecordGames)

    CYCLE = "(;SZ[5]KM[0.5]RE[B+R]AB[ba][da][cb]AW[ab][bb]PL[B];B[aa];W[ca];B[ba];W[];B[{}])"

    def test_games_that_the_rules_forbid(self, tmp_path: Path) -> None:
        """A dataset's games follow rules of their own; those with a repetition are not learned from under superko."""
        (tmp_path / "a.sgf").write_text(self.CYCLE.format("ec") + self.CYCLE.format("ed"))
        (tmp_path / "b.sgf").write_text("(;SZ[5]KM[0.5]RE[B+R]RU[Japanese];B[aa];W[bb];B[cc])(;SZ[7]RE[W+R];B[aa])")
        (tmp_path / "c.sgf").write_text("(;SZ[5];B[ab];W[bb];B[cc])")
        every = GameFilter(min_moves=1, any_result=True)
        import_games(sorted(tmp_path.glob("*.sgf")), tmp_path / "d", filter=every, split=Split(0, 0))
        games = DatasetGames(ENV, Dataset(tmp_path / "d"))
        assert games.left_out == {"not legal under the rules of this game": 2, "of another board": 1, "no result": 1}
        assert [len(games.record(number)) for number in range(len(games.lengths))] == [3]
        lax = DatasetGames(ENV.replace(ko="simple"), Dataset(tmp_path / "d"))
        assert (lax.left_out["not legal under the rules of this game"], len(lax.lengths)) == (0, 3)
        short = DatasetGames(ENV.replace(max_moves=2), Dataset(tmp_path / "d"))
        assert (short.lengths.tolist(), len(short.left_out)) == ([2, 2, 2], 2)  # the repetition is not reached

    def test_what_is_left_out_of_files(self, dataset: Path, tmp_path: Path) -> None:
        """Games of a folder and of an archive in it, and how many are left out for which reason."""
        sound = sorted((dataset.parent / "sgf").glob("*.sgf"))
        with zipfile.ZipFile(tmp_path / "more.zip", "w") as packed:
            for path in sound[:20]:
                packed.write(path, f"games/{path.name}")
            packed.writestr("games/bad.sgf", "(;SZ[5]RE[B+R];B[aa];W[aa])")
            packed.writestr("games/lines", "1\t;B[aa];W[bb]\n2\t;B[aa];W[bb]\n")
        shutil.copy(sound[20], tmp_path / "one.sgf")
        (tmp_path / "others.sgf").write_text("(;SZ[9]RE[B+R];B[aa])(;SZ[5];B[aa])" + self.CYCLE.format("ec"))
        (tmp_path / "damaged.zip").write_bytes(b"PK")
        games = given_games(ENV, tmp_path)
        assert isinstance(games, RecordGames)
        assert len(games.records) + len(games.held_out_games) == 21
        once = ("occupied point", "of another board", "no result", "not legal under the rules of this game")
        lines = {"as lines of text, which `alphago sgf` imports": 2}
        assert games.left_out == dict.fromkeys((*once, "damaged file"), 1) | lines
        assert sentence_of(games.left_out).startswith("7 games are left out: 2 as lines of text")
        assert len(given_games(ENV, tmp_path / "more.zip").held_out(10**6)) == 1

    def test_too_few_games(self, tmp_path: Path) -> None:
        (tmp_path / "a.sgf").write_text("(;SZ[5]RE[B+R];B[aa])" * 3 + "(;SZ[5]RE[B+R];B[aa]")
        with pytest.raises(ValueError, match=r"got 3: 1 game is left out: 1 truncated$"):
            given_games(ENV, tmp_path)
        with pytest.raises(ValueError, match=r"from: 4 games are left out: 3 of another board, 1 truncated \("):
            given_games(GoEnv(7), tmp_path)

    def test_errors(self, dataset: Path, tmp_path: Path) -> None:
        for env, games, sentence in (
            (ENV, tmp_path / "none", "games must be in a dataset, a run"),
            (GoEnv(9), dataset, "has no games with a result"),
            (ENV, [], "records must be at least 20 games"),
            (GoEnv(5, turns=4), dataset, "two passes end"),
        ):
            with pytest.raises((ValueError, FileNotFoundError), match=sentence):
                given_games(env, games)
        for given in ({"gate": 0.55}, {"memory_size": 100}, {"readouts": 8}):  # settings of self-play
            with pytest.raises(TypeError, match=f"has no keyword '{next(iter(given))}'"):
                train_supervised(ENV, dataset, **given)
        with pytest.raises(ValueError, match="num_games must be left out where epochs are given, got 7"):
            train_supervised(ENV, dataset, epochs=1, num_games=7)


class TestTraining:
    @pytest.mark.slow
    def test_moves_and_results_are_learned(self, dataset: Path, tmp_path: Path) -> None:
        """A good part of these moves can be foreseen, and who wins is known from whose turn it is."""
        chosen = {**SMALL, "channels": 16, "learning_rate": 0.02, "folder": tmp_path / "run"}
        net = train_supervised(ENV, dataset, epochs=6, checks=4, seed=1, **chosen)
        rows = [row for row in read_history(tmp_path / "run").evaluations if row["judge"] == "held-out"]
        assert len(rows) >= 4
        assert rows[0]["positions_judged"] > 100
        best = max(row["accuracy"] for row in rows)
        assert best > rows[0]["accuracy"] + 0.25
        assert all(row["top5"] >= row["accuracy"] for row in rows)
        assert rows[-1]["cross_entropy"] < rows[0]["cross_entropy"]
        measured = predict_games(net, dataset, split="validation")
        assert measured["accuracy"] == pytest.approx(best, abs=0.02)
        assert load_model(tmp_path / "run").config == net.config
        plain, averaged = predict_games(net, dataset), predict_games(net, dataset, symmetries=True)
        assert plain["positions_judged"] == averaged["positions_judged"] > 50
        assert 0 < abs(plain["cross_entropy"] - averaged["cross_entropy"]) < 0.5

    def test_bit_identical_after_a_stop(self, dataset: Path, tmp_path: Path) -> None:
        """As a run of self-play: stopped between two steps, and resumed from the folder."""
        options = {**SMALL, "epochs": 0.4, "checks": 2, "seed": 5}
        whole = train_supervised(ENV, dataset, folder=tmp_path / "whole", **options)

        stop = interrupt_at(1)
        train_supervised(ENV, dataset, folder=tmp_path / "part", **{**options, "reports": [stop]})
        assert stop.stopped
        words = f"a run of self-play for this call, and is not: `alphago supervised {dataset} --folder {tmp_path}/part`"
        with pytest.raises(ValueError, match=re.escape(words)):
            train(ENV, folder=tmp_path / "part", reports=(), device="cpu")
        # What the call leaves out is the run's: games, tests, batch size, learning rate, seed.
        parts = train_supervised(ENV, dataset, folder=tmp_path / "part", reports=(), device="cpu")
        assert same(whole, parts)

    def test_other_runs_and_games(self, dataset: Path, tmp_path: Path) -> None:
        """A run goes on with its own games only; where these lie, its config says, and whether they moved."""
        options = {**SMALL, "tower_height": 0, "checks": 1}
        train_supervised(ENV, dataset, folder=tmp_path / "run", num_games=8, **options)
        records = selfplay(ENV, HashEvaluator(), 4, 40, seed=1, groups=1)
        with pytest.raises(ValueError, match="dataset must be the run's own"):
            train_supervised(ENV, records, folder=tmp_path / "run", num_games=12, reports=(), device="cpu")
        shutil.copytree(dataset, tmp_path / "moved")
        train_supervised(ENV, tmp_path / "moved", folder=tmp_path / "run", num_games=12, reports=(), device="cpu")
        config = read_config(tmp_path / "run")
        assert config["given"] == {"dataset": str(tmp_path / "moved")}
        games, moved = ((one["setting"], one["was"], one["now"]) for one in config["changes"])
        assert games == ("num_games", 8, 12)
        assert moved == ("dataset", str(dataset), str(tmp_path / "moved"))
        assert read_history(tmp_path / "run").metrics[-1]["games"] == 12
        run(tmp_path / "played", 2, env=ENV, source=RandomGames)
        with pytest.raises(ValueError, match="must be a run of given games for this call, and is not: `alphago train"):
            train_supervised(ENV, dataset, folder=tmp_path / "played", reports=(), device="cpu")


def test_predictions_of_given_games(dataset: Path) -> None:
    measured = predict_games(NeuralNet(ENV, tower_height=1, channels=8), dataset, split="validation", positions=20)
    assert measured["positions_judged"] > 0
    assert 0 <= measured["accuracy"] <= measured["top5"] <= 1
    for name, wrong in (("split", "tests"), ("positions", -3)):
        with pytest.raises(ValueError, match=f"{name} must be "):
            predict_games("7x7", dataset, **{name: wrong})


def test_measures() -> None:
    """By hand: four positions with five actions."""
    last = [0.4, 0.3, 0.1, 0.1, 0.06, 0.04, 0]
    priors = np.array([[0.5, 0.2, 0.1, 0.1, 0.1, 0, 0], [0.1, 0.6, 0.1, 0.1, 0.1, 0, 0], last, last])
    values, moves, results = np.array([1.0, 0.0, -0.5, 0.8]), np.array([0, 0, 5, 4]), np.array([1.0, -1.0, -1.0, -1.0])
    found = make_predictions(priors, values, moves, results).measures()
    assert found["positions_judged"] == 4
    assert found["accuracy"] == 0.25
    assert found["top5"] == 0.75
    assert found["value_error"] == pytest.approx((0 + 1 + 0.25 + 3.24) / 4)
    assert found["value_accuracy"] == 0.5
    assert found["cross_entropy"] == pytest.approx(-np.log([0.5, 0.1, 0.04, 0.06]).mean())
    assert found["calibration_error"] == pytest.approx((abs(1.9 - 1) + 0.5 + 0.25) / 4)

"""`alphago selfplay`: games of a network against itself, on disk."""

from pathlib import Path

import pytest

from alphago import ConnectFourEnv, GoEnv, NeuralNet
from alphago.cli import main
from alphago.cli.selfplay_games import game_folder
from alphago.mcts.evaluator import UniformEvaluator
from alphago.records.record import load_records
from alphago.records.sgf import read_sgf
from alphago.training.call.selfplay_call import selfplay as play


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two networks, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    NeuralNet(GoEnv(3, komi=0.5), tower_height=0, channels=4).save("go.safetensors")
    NeuralNet(ConnectFourEnv(), tower_height=0, channels=4).save("four.safetensors")
    return tmp_path


def selfplay(command: str) -> int:
    return main(["selfplay", *command.split()])


def test_sgf(capsys: pytest.CaptureFixture[str]) -> None:
    assert selfplay("go.safetensors --games 11 --readouts 2 --folder out") == 0
    games = [read_sgf(path) for path in sorted(Path("out").iterdir())]
    assert [path.name for path in sorted(Path("out").iterdir())] == [f"{number:02d}.sgf" for number in range(11)]
    assert {(game.board_size, game.komi) for game in games} == {(3, 0.5)}
    black = sum(game.outcome == 1 for game in games)
    shown = capsys.readouterr()
    results, seed = shown.out.splitlines()
    assert results == f"11 games in out: Black won {black}, White {11 - black}, drawn 0"
    number, _, rest = seed.removeprefix("--seed ").partition(" ")
    assert rest == "plays them again"
    assert selfplay(f"go.safetensors --games 11 --readouts 2 --folder again --seed {number}") == 0
    assert [read_sgf(path) for path in sorted(Path("again").iterdir())] == games
    assert "11/11" in shown.err


def test_the_same_games_as_records(capsys: pytest.CaptureFixture[str]) -> None:
    options = "go.safetensors --games 3 --readouts 4 --komi 1.5 --resign-threshold -1 --seed 3 --considered 2"
    assert selfplay(f"{options} --folder sgf") == 0
    assert selfplay(f"{options} --folder records --records") == 0
    games = [read_sgf(path) for path in sorted(Path("sgf").iterdir())]
    assert [path.name for path in Path("records").iterdir()] == ["games.npz"]
    records = load_records(Path("records") / "games.npz")
    assert [record.moves.tolist() for record in records] == [list(game.moves) for game in games]
    assert {game.komi for game in games} == {1.5}
    assert [record.seed for record in records] == [(3, 0), (3, 1), (3, 2)]
    assert all((record.policies > 0).sum(axis=1).max() > 1 for record in records)


def test_another_game() -> None:
    assert selfplay("four.safetensors --games 2 --readouts 2 --search puct --folder out") == 0
    assert all(record.position(ConnectFourEnv()).is_over for record in load_records(Path("out") / "games.npz"))


def test_interrupted(capsys: pytest.CaptureFixture[str]) -> None:
    """The finished games are saved and reported."""
    (record,) = play(GoEnv(3), UniformEvaluator(), 2)

    def interrupted() -> None:
        with game_folder("out", GoEnv(3), 50, as_records=True) as save:
            save(7, record)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [saved.seed for saved in load_records(Path("out") / "games.npz")] == [record.seed]
    assert capsys.readouterr().out.startswith("1 games in out: ")


@pytest.mark.parametrize("given", [None, "out"])
def test_one_process_a_folder(given: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both choose the same name, which only one gets; the other takes another one, or raises."""
    monkeypatch.setattr("time.strftime", lambda _: "now")
    first, second = (game_folder(given, GoEnv(3), 1, as_records=False) for _ in range(2))
    with first:
        if given is None:
            with second:
                assert {path.name for path in Path("runs").iterdir()} == {"selfplay-go3-now", "selfplay-go3-now-2"}
        else:
            with pytest.raises(FileExistsError, match="out must be a new or empty folder"), second:
                pass
    assert not list(Path().rglob("selfplay-*")) + list(Path().glob("out"))  # nothing was played


def test_the_models_own_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless the command sets one; a model without one never resigns."""
    NeuralNet(GoEnv(3), tower_height=0, channels=4).save("noted.safetensors", {"resign_threshold": "-0.75"})
    thresholds: list[float | None] = []
    monkeypatch.setattr(
        "alphago.cli.selfplay_games.selfplay", lambda *_, resign_threshold, **__: thresholds.append(resign_threshold)
    )
    for words in ("go.safetensors", "noted.safetensors", "noted.safetensors --resign-threshold none"):
        assert selfplay(f"{words} --games 1") == 0
    assert selfplay("noted.safetensors --games 1 --resign-threshold -0.5") == 0
    assert thresholds == [-1.0, -0.75, None, -0.5]

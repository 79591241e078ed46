"""`alphago train`, and playing the networks that it leaves and those that come with the package."""

import json
from pathlib import Path

import pytest

from alphago import GoEnv, evaluate, load_model
from alphago.cli import main
from alphago.env.packaged import board_of, packaged_nets
from alphago.records.record import load_records

SMALL = ["--readouts", "2", "--tower-height", "0", "--channels", "4"]


def test_train_and_go_on(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert main(["train", "--board-size", "3", "--komi", "2.5", "--games", "4", "--folder", str(first), *SMALL]) == 0
    assert "finished after 4 games" in capsys.readouterr().err
    net = load_model(first)
    assert net.env == GoEnv(3, komi=2.5)
    onwards = ["train", "--board-size", "4", "--games", "2", "--readouts", "2", "--model", str(first)]
    assert main([*onwards, "--folder", str(second), "--seed", "5"]) == 0
    assert load_model(second).env == GoEnv(4)
    settings = json.loads((second / "config.json").read_text())["settings"]
    assert (settings["num_games"], settings["selfplay"]["readouts"], settings["seed"]) == (2, 2, 5)


def test_a_model_plays_the_presets_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the board on which it was trained."""
    games = []
    monkeypatch.setattr("alphago.training.call.train_call.train", lambda env, **_: games.append(env))
    for given in (
        ["--preset", "7x7"],
        ["--preset", "7x7", "--komi", "8"],
        ["--preset", "13x13", "--board-size", "6"],
        [],
    ):
        assert main(["train", "--model", "9x9", *given]) == 0
    assert games == [GoEnv(7, komi=9), GoEnv(7, komi=8), GoEnv(6), GoEnv(9, komi=7)]


def test_a_folder_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """With nothing said, as it is; with more games, longer; never with another board."""
    folder = str(tmp_path / "run")
    command = ["train", "--board-size", "3", "--komi", "2.5", "--games", "4", "--folder", folder, "--seed", "3", *SMALL]
    assert main(command) == 0
    before = (tmp_path / "run" / "weights.safetensors").read_bytes()
    for again in (command, ["train", "--folder", folder]):
        assert main(again) == 0
        assert "this run ended after 4 games" in capsys.readouterr().err
    assert (tmp_path / "run" / "weights.safetensors").read_bytes() == before
    assert main(["train", "--folder", folder, "--games", "6"]) == 0
    told = capsys.readouterr().err
    assert "num_games is 6 from now on, not 4" in told
    assert "this run goes on after 4 games" in told
    assert "finished after 6 games" in told
    assert load_model(folder).env == GoEnv(3, komi=2.5)
    for option, sentence in (("--board-size", "has board_size 3, got 7"), ("--komi", "has komi 2.5, got 7.0")):
        assert main(["train", "--folder", folder, option, "7"]) == 2
        told = capsys.readouterr().err
        assert sentence in told
        assert told.count("\n") == 1


def test_a_preset_brings_its_game(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert main(["train", "--preset", "cody2007", "--games", "2", "--folder", str(folder), *SMALL]) == 0
    config = json.loads((folder / "config.json").read_text())
    assert GoEnv(**config["env"]) == GoEnv(7, komi=0, turns=20, first_pass=40, planes="turns")
    losses = config["settings"]["learning"]["losses"]
    assert losses["value"] / losses["policy"] == pytest.approx(1.225)
    games = [record for path in (folder / "games").glob("*.npz") for record in load_records(path)]
    assert [len(record) for record in games] == [40, 40]
    metrics = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert {row["capped"] for row in metrics} - {None} == {0.0}  # a game of fixed length is whole
    small = tmp_path / "small"
    command = ["train", "--preset", "cody2007", "--board-size", "3", "--games", "1", "--folder", str(small), *SMALL]
    assert main(command) == 0
    assert GoEnv(**json.loads((small / "config.json").read_text())["env"]).turns == 20


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--model", "9x9", "--preset", "oware"], "9x9.safetensors plays go, got --preset oware, which is for oware"),
        (["--model", "7x7", "--preset", "cody2007"], "planes must be 18, got 16"),
        (["--model", "nowhere.safetensors"], "there is no file nowhere.safetensors"),
        (["--until", "nobody", "--games", "1"], "no player is called 'nobody'"),
        (["--game", "connect-four", "--until", "rave:100"], "env must be Go for rave:100, got ConnectFourEnv("),
    ],
)
def test_what_cannot_be_trained(
    arguments: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["train", *arguments]) == 2
    told = capsys.readouterr().err
    assert told.startswith("alphago train: ")
    assert sentence in told
    assert told.count("\n") == 1


QUICK = ("7x7", "connect-four")


class TestPackaged:
    @pytest.mark.parametrize(
        "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in packaged_nets()]
    )
    def test_each_plays(self, name: str) -> None:
        """It beats random moves: in Go without search, in other games (a drawn opening may lose) with 32 readouts.

        It lost none of 2000 games (each colour 1000) on its own board, so that less than one in 600 is lost: of 10 more
        than 2 then in one run of 10^6.
        """
        net = load_model(name)
        readouts = 32 if board_of(name) is None else 0
        result = evaluate(net.env, net.evaluator("float32"), "random", 10, readouts=readouts, random_opening=2)
        assert result.win_rate >= 0.8, result

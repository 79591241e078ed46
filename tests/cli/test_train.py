"""`alphago train`, and playing the networks that it leaves and those that come with the package."""

import json
from pathlib import Path

import pytest

from alphago import GoEnv, evaluate, load_model
from alphago.cli import main
from alphago.env.packaged_nets import named_board_size, packaged_nets

SMALL = ["--readouts", "2", "--tower-height", "0", "--channels", "4"]


def test_train_and_go_on(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert main(["train", "--board-size", "3", "--komi", "2.5", "--games", "4", "--folder", str(first), *SMALL]) == 0
    assert "finished after 4 games" in capsys.readouterr().err
    assert load_model(first).env == GoEnv(3, komi=2.5)
    onwards = ["train", "--board-size", "4", "--games", "2", "--readouts", "2", "--model", str(first)]
    assert main([*onwards, "--folder", str(second), "--seed", "5"]) == 0
    assert load_model(second).env == GoEnv(4)
    settings = json.loads((second / "config.json").read_text())["settings"]
    assert (settings["num_games"], settings["selfplay"]["readouts"], settings["seed"]) == (2, 2, 5)


def test_a_preset_brings_its_game(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert main(["train", "--preset", "cody2007", "--games", "2", "--folder", str(folder), *SMALL]) == 0
    config = json.loads((folder / "config.json").read_text())
    assert GoEnv(**config["env"]) == GoEnv(7, komi=0, turns=20, first_pass=40, planes="turns")
    losses = config["settings"]["learning"]["losses"]
    assert losses["value"] / losses["policy"] == pytest.approx(1.225)


QUICK = ("7x7", "connect-four")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in packaged_nets()]
)
def test_each_packaged_network_plays(name: str) -> None:
    """It beats random moves: in Go without search, in other games (a drawn opening may lose) with 32 readouts.

    It lost none of 2000 games (each colour 1000) on its own board, so that less than one in 600 is lost: of 10 more
    than 2 then in one run of 10^6.
    """
    net = load_model(name)
    readouts = 32 if named_board_size(name) is None else 0
    result = evaluate(net.env, net.evaluator("float32"), "random", 10, readouts=readouts, random_opening=2)
    assert result.win_rate >= 0.8, result

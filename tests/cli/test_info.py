"""`alphago info`: facts about the machine, its rates, and where a run's time went."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import alphago
from alphago import GoEnv, NeuralNet
from alphago.cli import main
from alphago.cli.info import readable
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.training.call.summary import next_steps
from alphago.training.recipes import RECIPES
from alphago.training.resignation import Resignation
from alphago.training.runs.config import read_config, write_config
from tests.training.small_runs import GO, RandomGames, opened, run


def test_facts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--seconds", "0"]) == 0
    text = capsys.readouterr().out
    for name in ("alphago", "python", "torch", "numba", "numpy", "openvino", "cores", "bfloat16 on the CPU"):
        assert f"\n  {name} " in text
    assert "rates" not in text
    (bibtex,) = re.findall(r"^  (@software\{alphago, .*\})$", text, re.M)
    assert f"version = {{{alphago.__version__}}}" in bibtex
    assert bibtex.count("{") == bibtex.count("}")
    assert f"\nversion: {alphago.__version__}\n" in (Path(alphago.__file__).parents[1] / "CITATION.cff").read_text()


@pytest.mark.slow
def test_rates(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(RECIPES["9x9"].network, "tower_height", 0)
    assert main(["info", "--seconds", "0.01", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert all(value > 0 for value in facts["rates"].values())
    names = [name.split(" ")[0] for name in facts["rates"]]
    assert names[:2] == ["playouts,", "search"]
    assert names[-1] == "training"
    assert set(names[2:-1]) == {"positions"}
    assert {"versions", "machine", "rates"} == set(facts)


def facts_about(what: object, capsys: pytest.CaptureFixture[str]) -> Any:
    """What `alphago info` prints as JSON, without the rates: the facts of each section, by its title."""
    assert main(["info", str(what), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where its time went, and when its network may resign."""
    times = {"net_share": 0.75, "tree_share": 0.25, "processor_share": 0.9, "gpu_busy": 0.5}
    rows = [{"seconds": float(second), **times} for second in range(3)]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    facts = facts_about(tmp_path, capsys)
    shares = {"net": 0.75, "tree": 0.25, "threads on the processor": 0.9, "GPU busy": 0.5}
    assert (facts["time"], facts["resignation"]) == (shares, {})
    assert main(["info", str(tmp_path)]) == 0
    assert re.search(r"\ntime\n  net +75\.0%\n(  .*\n){3}resignation\n  not known yet\n$", capsys.readouterr().out)
    net = NeuralNet(GoEnv(2), tower_height=0, channels=1)
    net.save(tmp_path / "weights.safetensors", Resignation(-0.875, 123, 0.0456).notes())
    expected = {"mover's value below": "-0.875", "resignations judged": 123, "of them not lost": 0.0456}
    assert facts_about(tmp_path, capsys)["resignation"] == expected


def test_what_a_run_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    run(folder, 8, gate={"games": 2, "every": 4, "readouts": 2})
    facts = facts_about(folder, capsys)["run"]
    assert facts["game"] == str(GO)
    assert "tower_height=0, channels=8" in facts["network"]
    assert "parameters" in facts["network"]
    expected = {"recipe": "few games", "games": "8 of 8", "readouts": 4, "over": "yes, all games are played"}
    expected["to go on"] = f"alphago train --folder {folder} --games 16"
    assert expected.items() <= facts.items()
    assert 0 < float(facts["policy loss"]) < 10
    assert re.fullmatch(r"\d+\.\d% of 2 games \(.*% to .*%\), after 8 games", facts["against best so far@2"])
    assert re.fullmatch(r"\d of \d accepted", facts["candidates of the gate"])
    assert facts_about(folder, capsys)["next"] == {
        "stronger": "a run by the clock, as train --minutes 30, plays thousands of games",
        "how good it is": f"alphago evaluate {folder} random",  # there is no exam of this board
        "play it": f"alphago web {folder}",
    }


def test_how_far_a_run_is_from_its_recipe(tmp_path: Path) -> None:
    config = {"recipe": "9x9", "game": "go", "env": {"board_size": 9}}
    for positions, more in ((121_000, ": train on"), (484_000, "")):
        (tmp_path / "metrics.jsonl").write_text(json.dumps({"seconds": 9.0, "positions": positions}) + "\n")
        told = f"{positions:,} of some 484,000 positions after which its run beat GNU Go{more}"
        assert next_steps(tmp_path, config)["recipe 9x9"] == told
    assert next_steps(tmp_path, config)["how good it is"] == f"alphago exam {tmp_path}"


def spend_all(folder: Path) -> None:
    """Write 0.3 s into the newest row of metrics, which so short a run may end a while after."""
    *rows, last = (folder / "metrics.jsonl").read_text("utf-8").splitlines()
    last = json.dumps({**json.loads(last), "seconds": 0.3, "processor_seconds": 0.3})
    (folder / "metrics.jsonl").write_text("\n".join([*rows, last]) + "\n", "utf-8")


def test_of_a_run_in_progress_and_of_one_by_the_clock(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with opened(tmp_path / "new", source=RandomGames):
        facts = facts_about(tmp_path / "new", capsys)
    assert (facts["run"]["games"], facts["run"]["over"]) == ("0 of 16", "no")
    assert facts["run"]["to go on"] == f"alphago train --folder {tmp_path / 'new'}"
    assert facts["time"] == {}
    for name in ("minutes", "processor_minutes"):
        run(tmp_path / name, None, source=RandomGames, **{f"max_{name}": 0.005})
        spend_all(tmp_path / name)
        facts = facts_about(tmp_path / name, capsys)["run"]
        assert facts["over"] == "yes, its time is over"
        assert facts["to go on"].endswith(f" --{name.replace('_', '-')} 0.01")
    assert facts["minutes of the processor"].endswith(" of 0.005")


def test_what_a_network_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    NeuralNet(TicTacToeEnv(), tower_height=0, channels=4).save(tmp_path / "net.safetensors", {"games": "7"})
    facts = facts_about(tmp_path / "net.safetensors", capsys)["network"]
    assert facts["network"].startswith("for TicTacToeEnv()")
    assert "tower_height=0, channels=4" in facts["network"]
    assert facts["games that trained it"] == "7"
    facts = facts_about("7x7", capsys)["network"]
    assert "GoEnv(7" in facts["network"]
    assert facts["input"].endswith(" planes of 7x7")


def test_how_runs_of_ones_own_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command names a game's class; a network with modules of one's own has to be given again, in Python."""
    with opened(tmp_path / "own", env=TicTacToeEnv()):
        facts = facts_about(tmp_path / "own", capsys)
    game = "--game alphago.examples.tic_tac_toe:TicTacToeEnv"
    assert facts["run"]["to go on"] == f"alphago train {game} --folder {tmp_path / 'own'}"
    config = read_config(tmp_path / "own")
    config["network"]["custom"] = {"base": "mine:Base"}
    write_config(tmp_path / "own", config)
    expected = f"in Python train(env, model=net, folder='{tmp_path / 'own'}')"
    assert facts_about(tmp_path / "own", capsys)["run"]["to go on"] == expected


@pytest.mark.parametrize(
    ("fact", "text"), [(True, "yes"), (2083884, "2,083,884"), (0.5, "50.0%"), ([], "none"), (None, "not installed")]
)
def test_facts_as_text(fact: object, text: str) -> None:
    assert readable(fact) == text

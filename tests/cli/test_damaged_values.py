"""Runs whose files have other values than a run writes: a sentence, in each command and in the run's row of a page."""

import contextlib
import io
import json
import shutil
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alphago import GoEnv, train
from alphago.cli import main
from alphago.ui.web.runs import Runs, history_of, latest_games

SETUPS = [
    {"first": 7}, 5, [], None, "x", {"black": 5}, {"black": ["Z9"]}, {"black": [1, 2]}, {"black": "A1", "white": "A1"},
    {"to_play": "red"}, {"to_play": 3}, {"komi": "x"}, {"komi": 1e308}, {"komi": []}, {"slots": 3},
]  # fmt: skip
NUMBERS = (-1, 0, 7, 30_000, 0.5, float("nan"), float("inf"), "x")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run on 3x3, without the copy of its config and with one file of games."""
    folder = tmp_path_factory.mktemp("runs") / "a"
    small = {"num_games": 8, "readouts": 2, "tower_height": 0, "channels": 4, "start_training_after": 20, "ckp_freq": 8}
    train(GoEnv(3, komi=0.5), folder=folder, watch=["random@0"], watch_share=0.5, reports=[], seed=1, **small)
    (folder / "config.copy.json").unlink()
    return folder


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    return shutil.copytree(trained, tmp_path / "run")


def tracebacks(doors: dict[str, Callable[[], object]], what: str) -> Iterator[str]:
    """Open each door, and yield what is no sentence."""
    for name, door in doors.items():
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                door()
            except (SystemExit, ValueError):
                continue
            except Exception as error:
                yield f"{name}, {what}: {error!r}"


def other_arrays(whole: dict[str, np.ndarray]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the arrays of a file of games with other values, types and shapes."""
    for setup in SETUPS:
        yield f"setup {setup}", {**whole, "setups": np.array([json.dumps(setup)] * len(whole["setups"]))}
    for name, array in whole.items():
        for value in NUMBERS:
            yield f"{name} {value}", {**whole, name: np.full(array.shape, value)}
            # A type may lack the value.
            with contextlib.suppress(ValueError, OverflowError), np.errstate(invalid="ignore"):
                yield f"{name} {value}, its type", {**whole, name: np.full(array.shape, value, array.dtype)}
        for other in (array[:0], array[None], array.astype(str), np.zeros(()), np.concatenate([array, array])):
            yield f"{name} {other.shape} {other.dtype}", {**whole, name: other}
        yield f"no {name}", {key: other for key, other in whole.items() if key != name}


@pytest.mark.parametrize("step", [29, pytest.param(1, marks=pytest.mark.slow)])
def test_values_of_games(run: Path, step: int) -> None:
    (path,) = (run / "games").glob("*.npz")

    def opened() -> None:
        runs = Runs([run])
        runs.overview()
        for game in latest_games(history_of(run)):
            runs.open_game(0, game.title)

    doors = {"page": opened, "games": lambda: main(["plot", "--games", str(run), "--out", str(run / "a.svg")])}
    with np.load(path) as file:
        whole = dict(file)
    lost = []
    for what, arrays in islice(other_arrays(whole), 0, None, step):
        np.savez_compressed(path, **arrays)
        lost += tracebacks(doors, what)
    assert not lost, "\n".join(lost)


def test_a_run_that_cannot_be_shown_hides_no_other(run: Path, trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = Runs([trained]).overview()
    (run / "config.json").write_text("[]")
    shown = Runs([run, trained]).overview()
    assert "is damaged" in shown["runs"][0]["error"]
    same = alone["runs"][0]["facts"].items() - {("latest line", alone["runs"][0]["facts"]["latest line"])}  # "2 s ago"
    assert shown["runs"][1]["facts"].items() >= same
    assert len(shown["panels"]) == len(alone["panels"]) - 1  # final boards are drawn of a single run
    monkeypatch.setattr("alphago.ui.web.runs.make_headline", lambda *_, **__: 1 // 0)
    assert [row["error"][:23] for row in Runs([trained]).overview()["runs"]] == ["it cannot be read (Zero"]


def test_games_that_cannot_be_replayed_are_named(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = (run / "games").glob("*.npz")
    with np.load(path) as file:
        arrays = dict(file)
    np.savez_compressed(path, **{**arrays, "setups": np.array(['{"first": 7}'] * len(arrays["setups"]))})
    assert main(["plot", "--games", str(run), "--out", str(run / "a.svg")]) == 2
    assert f"{path} is damaged: a game of GoEnv(3, komi=0.5" in capsys.readouterr().err
    for name, other, sentence in (
        ("setups", np.full_like(arrays["setups"], "[]"), "set-ups must be JSON objects"),
        ("values", np.full_like(arrays["values"], np.nan), "movers must be 1 or -1, values and results finite"),
        ("movers", np.zeros_like(arrays["movers"]), "movers must be 1 or -1, values and results finite"),
        ("outcomes", arrays["outcomes"][1:], "some games lack an array"),
    ):
        np.savez_compressed(path, **{**arrays, name: other})
        assert main(["plot", "--games", str(run), "--out", str(run / "a.svg")]) == 2
        assert f"{path} holds no game records (ValueError: {sentence})" in capsys.readouterr().err

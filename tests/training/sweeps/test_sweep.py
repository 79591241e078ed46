"""`sweep`: which calls are made, what is kept of them, and what the table says."""

import importlib.util
import json
import multiprocessing
import re
import subprocess
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from alphago import SweepResult, sweep, train
from alphago.exams.statistics import mean_of_few
from alphago.system.children import child_environment, python_command
from tests.training.small_runs import GO, TINY, RandomGames, interrupt_at
from tests.training.sweeps.calls import Scale, fail, score, twice

TWO = {"usual": {}, "more": {"gain": 3.0}}


@pytest.mark.slow
def test_in_processes_of_their_own(tmp_path: Path) -> None:
    told: list[int] = []
    settings = {"usual": {}, "killed": {"how": "killed"}}
    result = sweep(fail, settings, [1], folder=tmp_path, processes=2, tell=lambda now: told.append(len(now.faults)))
    assert sorted(told) in ([0, 1], [1, 1])
    assert result.numbers == {"usual": {1: {"cores": 1.0}}, "killed": {}}
    assert "killed/1: its process ended with code -9" in str(result)
    assert multiprocessing.active_children() == []


@pytest.mark.slow
def test_a_script_without_guard(tmp_path: Path) -> None:
    """A sentence for each run, and no traceback of a process."""
    script = tmp_path / "script.py"
    script.write_text(
        "from alphago import sweep\n"
        "def call(**_): return 1\n"
        f"print(sweep(call, {{'a': {{}}}}, 1, folder='{tmp_path}/sweep', processes=2))\n"
    )
    command = python_command(str(script))
    done = subprocess.run(command, env=child_environment(), capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert "a/0: its process ended with code 1: a script that starts processes must make the call" in done.stdout


def test_the_table_and_what_is_left_out(tmp_path: Path) -> None:
    result = sweep(partial(score, spread=0.1), TWO, [4, 0, 9], folder=tmp_path, processes=1)
    told: list[SweepResult] = []
    again = sweep(partial(score, spread=0.1), TWO, [4, 0, 9], folder=tmp_path, processes=1, tell=told.append)
    assert str(again) == str(result) == repr(result)
    assert [str(now) for now in told] == [str(result)], "the same program prints the table again"
    rows = [re.split(r"  +", line.strip()) for line in str(result).splitlines()[2:]]
    assert rows[0] == ["seeds", "score", "- usual"]
    assert rows[1] == ["usual", "3 of 3", "4.3 ± 11.2"]
    assert rows[2] == ["more", "3 of 3", "7.3 ± 11.2", "+3.00 ± 0.00"]
    more = sweep(partial(score, spread=0.1), {**TWO, "new": {}}, [4, 0, 9], folder=tmp_path, processes=1)
    assert more.difference("more", "score") == pytest.approx((3, 3, 3))
    assert more.mean("new", "score") == result.mean("usual", "score")


def test_a_call_that_fails_is_told_and_made_again(tmp_path: Path) -> None:
    settings = {"usual": {}, **{how: {"how": how} for how in ("raised", "busy", "nan")}}
    result = sweep(fail, settings, np.int64(2), folder=tmp_path, processes=1)
    assert list(result.faults) == ["raised/1", "busy/0", "busy/1", "nan/0", "nan/1"]
    assert re.search(r"raised/1: ValueError: too much of it \(.*calls.py, line \d+\)", str(result))
    assert result.faults["busy/0"] == "another process is at it"
    assert result.faults["nan/0"].startswith("ValueError: a call must return finite numbers, got nan for result")
    assert [list(seeds) for seeds in result.numbers.values()] == [[0, 1], [0], [], []]
    assert sweep(fail, settings, 2, folder=tmp_path, processes=1).faults == result.faults


def small(folder: Path, **given: Any) -> SweepResult:
    call = partial(train, GO, 8, reports=[], source=RandomGames, watch=["random@0"], **TINY)
    return sweep(partial(call, **given), {"usual": {}, "wide": {"batch_size": 8}}, 1, folder=folder, processes=1)


@pytest.mark.slow
def test_runs_of_train(tmp_path: Path) -> None:
    """A run that was stopped, here before its last match, has no numbers; the same call goes on with it."""
    stopped = small(tmp_path, reports=[interrupt_at(2)])
    assert stopped.numbers == {"usual": {}, "wide": {}}
    whole = small(tmp_path)
    assert whole.measures == ["policy loss", "value loss", "win rate against random@0"]
    assert len(whole.numbers["wide"]) == 1
    picture = str(whole.plot(tmp_path / "curves.svg", "games"))
    assert re.search("usual.*Policy loss", picture, re.DOTALL)
    assert (tmp_path / "curves.svg").read_text().strip() == picture


def edited(function: Any, **changes: Any) -> Any:
    """The function after an edit of its file: with another code, or in another module."""
    copy = FunctionType(changes.get("code", function.__code__), changes.get("names", function.__globals__))
    copy.__name__, copy.__qualname__, copy.__module__ = function.__name__, function.__qualname__, function.__module__
    return copy


def variants() -> dict[str, dict[str, Any]]:
    """Settings of which some have another repr in each process."""
    changes = {"part": partial(twice, 3), "object": Scale(2), "function": twice}
    return {**TWO, **{name: {"change": change} for name, change in changes.items()}}


CHOOSE = "choose another name or folder"


@pytest.mark.parametrize(
    ("call", "settings", "sentence"),
    [
        (score, {"more": {"gain": 4.0}}, f"must be of .*'gain': '4.0'.* {CHOOSE}"),
        (score, {"object": {"change": Scale(3)}}, CHOOSE),
        (score, {"part": {"change": partial(twice, 4)}}, CHOOSE),
        (score, {"function": {"change": Scale.__call__}}, CHOOSE),
        (fail, TWO, r"must be of .*calls:fail.*, got .*calls:score"),
        (partial(score, spread=2.0), TWO, r"must be of .*score\(spread=2.0\)"),
        (edited(score, code=fail.__code__), TWO, "but tests.training.sweeps.calls:score changed since: choose another"),
        (edited(score, names={**score.__globals__, "OFFSET": 1.0}), TWO, "calls:score changed since"),
        (edited(score, names={**score.__globals__, "OFFSET": (0.0,)}), TWO, "calls:score changed since"),
        (score, {"function": {"change": edited(twice, code=score.__code__)}}, "calls:twice changed since"),
    ],
)
def test_other_calls_under_the_same_name(call: Any, settings: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    """Their numbers are not mistaken for those of the calls that were made, which the same calls still read."""
    first = sweep(score, variants(), 1, folder=tmp_path, processes=1)
    with pytest.raises(ValueError, match=sentence):
        sweep(call, settings, 1, folder=tmp_path, processes=1)
    assert sweep(score, variants(), 1, folder=tmp_path, processes=1).numbers == first.numbers


def test_a_call_that_was_killed_early(tmp_path: Path) -> None:
    """Its folder holds a lock at most; another program's folder, and a damaged file of numbers, are told."""
    for name in TWO:
        (tmp_path / name / "0").mkdir(parents=True)
        (tmp_path / name / "0" / "lock").touch()
    (tmp_path / "more" / "0" / "half.txt").touch()
    with pytest.raises(ValueError, match="more/0 must be new, or the folder of a run of this sweep"):
        sweep(score, TWO, 1, folder=tmp_path, processes=1)
    (tmp_path / "more" / "0" / "half.txt").unlink()
    assert len(sweep(score, TWO, 1, folder=tmp_path, processes=1).numbers["more"]) == 1
    (tmp_path / "more" / "0.json").write_text(json.dumps({"numbers": [1]}))
    with pytest.raises(ValueError, match=r"0.json is damaged .* remove it"):
        sweep(score, TWO, 1, folder=tmp_path, processes=1)


def test_a_call_with_other_settings_than_it_began_with(tmp_path: Path) -> None:
    """It does not go on in a folder where the function has written something; without that it begins."""
    sweep(fail, {"usual": {"how": "raised"}}, [1], folder=tmp_path, processes=1)
    written = tmp_path / "usual" / "1" / "half.txt"
    written.parent.mkdir()
    written.touch()
    with pytest.raises(ValueError, match=r"must be of .*'settings': {}.* got .*raised.*choose another name or folder"):
        sweep(fail, {"usual": {}}, [1], folder=tmp_path, processes=1)
    written.unlink()
    assert not sweep(fail, {"usual": {}}, [1], folder=tmp_path, processes=1).faults


def test_a_call_that_another_machine_ends_meanwhile(tmp_path: Path) -> None:
    """It is not made again, and its numbers stay."""

    def tell(result: SweepResult) -> None:
        saved = tmp_path / "more" / "0.json"
        if not saved.exists():
            other = sweep(score, {"more": TWO["more"]}, 1, folder=tmp_path, processes=1)
            assert other.numbers["more"][0] == {"score": 3.0}
            saved.write_text(saved.read_text().replace("3.0\n", "4.0\n"))

    result = sweep(score, TWO, 1, folder=tmp_path, processes=1, tell=tell)
    assert result.numbers["more"][0] == {"score": 4.0}


def test_a_function_of_a_module_that_is_not_registered(tmp_path: Path) -> None:
    """As `importlib` loads a file unless its module is put into `sys.modules`."""
    file = tmp_path / "loaded.py"
    file.write_text("class Five:\n    value = 5\n\n\ndef five(folder, seed):\n    return Five.value\n")
    spec = importlib.util.spec_from_file_location("loaded", file)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    result = sweep(module.five, {"usual": {}}, 1, folder=tmp_path / "sweep", processes=1)
    assert result.numbers == {"usual": {0: {"result": 5.0}}}


@pytest.mark.parametrize(
    ("call", "settings", "error"),
    [
        (lambda **_: 1, TWO, "other processes can import, functions of a module .* processes=1"),
        (score, {"a": {"gain": lambda: 1}}, "other processes can import"),
        (score, [{}], "settings must be dictionaries by name, such as .*, got"),
        (score, {"a": 3}, "settings must be dictionaries by name"),
        (score, {"a/b": {}}, "settings must have names that may be folders, got"),
        (score, {}, "settings must have names"),
        ("train", TWO, "call must be a function of folder, seed and settings, got 'train'"),
    ],
)
def test_what_is_no_sweep(call: Callable[..., Any], settings: Mapping[str, Any], error: str, tmp_path: Path) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        sweep(call, settings, 1, folder=tmp_path, processes=2)
    assert list(tmp_path.iterdir()) == []


def test_the_interval_of_a_few_numbers() -> None:
    """Student 1908: for the numbers 0, 1, 2 it is 1 ± 4.303 / sqrt(3)."""
    for count, t in ((3, 4.303), (31, 2.0423)):
        low, high = (count / 2 - 0.5 + sign * t * ((count + 1) / 12) ** 0.5 for sign in (-1, 1))
        assert mean_of_few(np.arange(count))[1:] == pytest.approx((low, high), rel=1e-3)
    assert np.isnan(mean_of_few(np.array([5.0])).low)

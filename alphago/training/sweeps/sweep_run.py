"""A call of a sweep: its folder, its seed, its settings, and its saved numbers."""

import json
import math
import pickle
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from alphago.system.files import LOCK, parse_json, read_file, write_atomic
from alphago.system.interrupts import NO_FILE, comes_from_standard_input, has_importable_program
from alphago.system.validation import shown
from alphago.training.call.summary import run_summary
from alphago.training.code_digest import code_of, text_of
from alphago.training.history import number, opponent_name, read_history
from alphago.training.runs.config import holds_run

RESULT = "result.json"
MOST_BYTES = 2**20  # largest result that is read
LOSSES = ("policy_loss", "value_loss")
MEASURES = {"win_rate": "win rate against", "exam_points": "points lost in", "accuracy": "accuracy on"}


class SweepRun(NamedTuple):
    """A call of a sweep for one variant and one seed.

    call: the function that is called.
    folder: the call's folder, in the folder of its variant.  settings: the variant's keywords.
    """

    call: Callable[..., Any]
    folder: Path
    seed: int
    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the variant."""
        return self.folder.parent.name

    @property
    def identity(self) -> dict[str, Any]:
        """What the numbers depend on, as JSON data: seed, settings, the function that is called, and code."""
        return {
            "seed": self.seed,
            "settings": {name: text_of(value) for name, value in self.settings.items()},
            "call": text_of(self.call),
            "code": code_of(self.call, self.settings),
        }

    @property
    def begun(self) -> Path:
        """The file, beside the call's folder, with the code that began there; it is gone when the numbers are there."""
        return self.folder.with_name(f"{self.seed}.begun.json")

    def numbers(self) -> dict[str, float] | None:
        """Return the saved numbers of the call; None if it has not ended.

        Raises ValueError if the numbers are of another seed, function or setting, or of other code, or damaged.
        """
        return self._read(self.folder / RESULT)

    def _read(self, path: Path) -> dict[str, float] | None:
        """Return the numbers in a file, as `numbers` does."""
        try:
            saved = parse_json(read_file(path, MOST_BYTES))
            numbers = {str(name): float(value) for name, value in saved.pop("numbers").items()}
            code = dict(saved.pop("code"))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"{path} is damaged ({error}): remove it, and the call is made again") from error
        expected = self.identity
        code_now = expected.pop("code")
        if saved != expected:
            raise ValueError(f"{path} must be of {expected}, got {saved}: choose another name or folder")
        self._check_code([name for name in code_now if code.get(name) != code_now[name]])
        return numbers

    def _check_code(self, changed: Sequence[str]) -> None:
        """Raise ValueError if there are names of functions and classes that were edited."""
        if changed:
            raise ValueError(
                f"{self.folder} must be of the same code, but {' and '.join(changed)} changed since: choose another "
                "name or folder, or remove it"
            )

    def check_may_begin(self) -> None:
        """Raise ValueError unless the call may begin in its folder, or go on with its run there."""
        has_run = holds_run(self.folder)
        if has_run:  # `train` compares the settings
            begun: dict[str, str] = {}
            with suppress(OSError, ValueError, TypeError):
                begun = dict(parse_json(read_file(self.begun, MOST_BYTES)))
            code = self.identity["code"]
            self._check_code([name for name in code if begun.get(name, code[name]) != code[name]])
        names = {path.name for path in self.folder.iterdir()} if self.folder.is_dir() else set()
        is_of_sweep = has_run or self.begun.exists() or names <= {LOCK}
        if not is_of_sweep:
            raise ValueError(f"{self.folder} must be new, or the folder of a run of this sweep")

    def make(self) -> None:
        """Make the call and save its numbers; save nothing if its run was stopped before the end."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(self.begun, json.dumps(self.identity["code"]).encode())
        numbers = numbers_of(self.call(folder=self.folder, seed=self.seed, **self.settings), self.folder)
        if holds_run(self.folder) and run_summary(self.folder)["over"] == "no":
            return
        self.folder.mkdir(exist_ok=True)
        result = {**self.identity, "numbers": numbers}
        write_atomic(self.folder / RESULT, json.dumps(result, indent=2).encode())
        self.begun.unlink(missing_ok=True)


def numbers_of(result: object, folder: Path) -> dict[str, float]:
    """Return the numbers that a call returned; if it returned none, the latest measurements of its run."""
    if isinstance(result, Mapping):
        numbers = {str(name): float(value) for name, value in result.items()}
    elif isinstance(result, (int, float)) or getattr(result, "shape", None) == ():  # or a scalar of NumPy or torch
        numbers = {"result": float(result)}  # type: ignore[arg-type]
    else:
        numbers = latest_measurements(folder)
    for name, value in numbers.items():
        if not math.isfinite(value):
            raise ValueError(f"a call must return finite numbers, got {value} for {name}")
    return numbers


def latest_measurements(folder: Path) -> dict[str, float]:
    """Return the latest measurements of a run: its losses, and win rates and grades by what it watched."""
    history = read_history(folder)
    # Later rows replace the numbers of earlier rows.
    numbers = {name.replace("_", " "): number(row, name) for name in LOSSES for row in history.metrics}
    for row in history.evaluations:
        numbers |= {f"{words} {opponent_name(row)}": number(row, key) for key, words in MEASURES.items() if key in row}
    return {name: value for name, value in numbers.items() if value is not None}


def check_call(call: Callable[..., Any], runs: Sequence[SweepRun], *, alone: bool) -> None:
    """Raise TypeError unless the calls can be made; alone: whether this process makes all of them."""
    if not callable(call):
        raise TypeError(f"call must be a function of folder, seed and settings, got {shown(call)}")
    if alone:
        return
    try:
        if comes_from_standard_input():
            raise TypeError(NO_FILE)
        pickled = pickle.dumps((call, [run.settings for run in runs]))
        if b"__main__" in pickled and not has_importable_program():
            raise TypeError("this program is no file")
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            f"call and settings must be such as other processes can import, functions of a module ({error}): "
            "processes=1 makes the calls in this process, one after the other"
        ) from error

"""The config of a run on disk, what spoils it, and what another version's says."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from alphago.cli import main
from alphago.nn.net import load_model
from alphago.training.runs.config import parse_config, read_config, repair_config, write_config
from alphago.training.runs.folder import RunFolder
from tests.training.small_runs import GO, files, go_on, spoil

WAY_OUT = "it cannot go on, but alphago train --model {0} --folder ANOTHER begins a new run with its network"


class TestConfig:
    """config.json, and its copy."""

    @pytest.mark.parametrize(
        "data", [b'{"game": "go"', b"", b"\xff\x00", b"[]", b'{"game": "go"}', b'{"version": 7}', None]
    )
    def test_a_damaged_one_has_a_copy(self, finished: Path, data: bytes | None) -> None:
        path = finished / "config.json"
        before = path.read_bytes()
        path.unlink()
        if data is not None:
            path.write_bytes(data)
        config = read_config(finished)
        assert config == parse_config(finished / "config.copy.json")
        (note,) = repair_config(finished, config)
        assert note.startswith(f"{path} is ")
        assert note.endswith("it was restored from its copy")
        assert path.read_bytes() == before
        assert (finished / "config.json.damaged").exists() == (data is not None)
        assert repair_config(finished, config) == []

    @pytest.mark.parametrize("how", ["gone", "flipped"])
    def test_a_damaged_copy_is_made_anew(self, finished: Path, how: str) -> None:
        copy = finished / "config.copy.json"
        before = copy.read_bytes()
        spoil(copy, how)
        assert repair_config(finished, read_config(finished)) == []
        assert copy.read_bytes() == before == (finished / "config.json").read_bytes()

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            (lambda config: config.update(version=5), "is of another version (it must be 7, got 5)"),
            (lambda config: config["env"].update(eye_games=1), "has a game of another version"),
            (lambda config: config["settings"].pop("until"), "has settings of another version ('until')"),
            (lambda config: config["settings"].update(until={"nam": "gnugo"}), "has settings of another version"),
        ],
    )
    def test_of_another_version(
        self, finished: Path, change: Callable[[dict[str, Any]], object], sentence: str
    ) -> None:
        """The error says what to do, and that works."""
        config = read_config(finished)
        change(config)
        write_config(finished, config)
        before = files(finished)
        with pytest.raises(ValueError, match=f"{re.escape(sentence)}.*{WAY_OUT.format(finished)}$"):
            go_on(finished)
        assert files(finished) == before

    def test_the_way_out(self, finished: Path, tmp_path: Path) -> None:
        for name in ("config.json", "config.copy.json"):
            (finished / name).write_text("{")
        command = ["train", "--model", str(finished), "--folder", str(tmp_path / "another"), "--games", "2"]
        assert main([*command, "--readouts", "2"]) == 0
        assert load_model(tmp_path / "another").env.N == GO.N

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            (lambda data: data.pop("counts"), "'counts'"),
            (lambda data: data["entered"].update(lesson=1), "list index out of range"),
        ],
    )
    def test_a_state_of_another_version(
        self, finished: Path, change: Callable[[dict[str, Any]], object], reason: str
    ) -> None:
        """One that lacks what this version looks for, or is in a stage that this version does not have."""
        with RunFolder(finished) as folder:
            state = folder.restore()
            change(state.data)
            folder.write_state(state)
        with pytest.raises(ValueError, match=rf"has a state of another version \({reason}\): it cannot go"):
            go_on(finished)

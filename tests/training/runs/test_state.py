"""States in files: damaged ones are set aside and named, and the one before is taken."""

from pathlib import Path

import numpy as np
import pytest
import torch

from alphago.nn.net import load_model
from alphago.training.runs.state import State, StateFiles, pack_arrays, unpack_arrays
from tests.training.small_runs import GO, Small, go_on, same, spoil


class TestStates:
    @pytest.mark.parametrize(
        "how", ["flipped", *(pytest.param(how, marks=pytest.mark.slow) for how in ("cut", "empty"))]
    )
    def test_the_newest_is_damaged(self, killed: Path, undisturbed: Small, how: str) -> None:
        """The run goes on from the one before."""
        path = sorted((killed / "state").iterdir())[-1]
        spoil(path, how)
        net, listener = go_on(killed)
        assert f"{path} is damaged" in listener.notes[0]
        assert path.with_name(path.name + ".damaged").exists()
        assert same(net, undisturbed.net)

    @pytest.mark.parametrize("which", [-1, 0], ids=["newest", "older"])
    def test_a_folder_in_the_place_of_one(self, killed: Path, undisturbed: Small, which: int) -> None:
        path = sorted((killed / "state").iterdir())[which]
        path.unlink()
        path.mkdir()
        net, listener = go_on(killed)
        assert listener.noted(f"{path} is no file; it was set aside") == (which == -1)
        assert same(net, undisturbed.net)

    @pytest.mark.parametrize(
        ("how", "why"),
        [
            ("pipe", "is no file"),
            pytest.param("link", "cannot be read (it is a link to itself)", marks=pytest.mark.slow),
            pytest.param("huge", "is too large (", marks=pytest.mark.slow),
        ],
    )
    def test_one_that_must_not_be_read(self, killed: Path, undisturbed: Small, how: str, why: str) -> None:
        path = sorted((killed / "state").iterdir())[-1]
        spoil(path, how)
        net, listener = go_on(killed)
        assert listener.notes[0].startswith(f"{path} {why}")
        assert same(net, undisturbed.net)

    def test_both_are(self, killed: Path) -> None:
        for path in (killed / "state").iterdir():
            spoil(path, "flipped")
        sentence = r"is damaged .*; .* is damaged .*; .*holds no state to go on from.* alphago train --model"
        with pytest.raises(ValueError, match=sentence):
            go_on(killed)
        load_model(killed, GO)

    def test_arrays(self) -> None:
        arrays = {"a": np.arange(6, dtype=np.int16).reshape(2, 3), "b": np.zeros(0, np.float32)}
        again = unpack_arrays(pack_arrays(arrays))
        assert {name: (a.dtype, a.tolist()) for name, a in again.items()} == {
            name: (a.dtype, a.tolist()) for name, a in arrays.items()
        }

    def test_two_are_kept(self, tmp_path: Path) -> None:
        files = StateFiles(tmp_path)
        for number in (1, 2, 3):
            files.write(State({"a": torch.full((2,), number)}, {"number": number}))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["000002.safetensors", "000003.safetensors"]
        assert files.read().data == {"number": 3}

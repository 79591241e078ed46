"""States in files: damaged ones are set aside and named, and the one before is taken."""

from pathlib import Path

import pytest
import torch

from alphago.nn.net import load_model
from alphago.training.runs.folder import RunFolder, State
from tests.training.small_runs import GO, Small, go_on, same, spoil

SLOW = pytest.mark.slow


class TestStates:
    @pytest.mark.parametrize(
        ("how", "why"),
        [
            ("flipped", "is damaged"),
            ("pipe", "is no file"),
            pytest.param("cut", "is damaged", marks=SLOW),
            pytest.param("empty", "is damaged", marks=SLOW),
            pytest.param("link", "cannot be read (it is a link to itself)", marks=SLOW),
            pytest.param("huge", "is too large (", marks=SLOW),
        ],
    )
    def test_the_newest_cannot_be_read(self, killed: Path, undisturbed: Small, how: str, why: str) -> None:
        """The run goes on from the one before."""
        path = sorted((killed / "state").iterdir())[-1]
        spoil(path, how)
        net, listener = go_on(killed)
        assert listener.notes[0].startswith(f"{path} {why}")
        assert path.with_name(path.name + ".damaged").exists()
        assert same(net, undisturbed.net)

    def test_both_are(self, killed: Path) -> None:
        for path in (killed / "state").iterdir():
            spoil(path, "flipped")
        sentence = r"is damaged .*; .* is damaged .*; .*holds no state to go on from.* alphago train --model"
        with pytest.raises(ValueError, match=sentence):
            go_on(killed)
        load_model(killed, GO)

    def test_two_are_kept(self, tmp_path: Path) -> None:
        with RunFolder(tmp_path) as folder:
            for number in (1, 2, 3):
                folder.write_state(State({"a": torch.full((2,), number)}, {"number": number}))
            assert [path.name for path in folder.states()] == ["000002.safetensors", "000003.safetensors"]
            assert folder.newest_state().data["number"] == 3

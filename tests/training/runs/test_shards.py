"""Files of games that a disk has spoilt: the memory lacks them from now on, and that is noted."""

import builtins
import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alphago.records.record import load_records
from alphago.training.runs.folder import RunFolder
from alphago.training.runs.shards import digest_of, read_shard
from tests.training.small_runs import GO, go_on, spoil


@pytest.mark.parametrize("how", ["flipped", *(pytest.param(how, marks=pytest.mark.slow) for how in ("cut", "gone"))])
def test_games_of_a_run_that_goes_on(killed: Path, how: str) -> None:
    path = sorted((killed / "games").iterdir())[-1]
    count = len(load_records(path))
    spoil(path, how)
    _, listener = go_on(killed)
    assert str(path) in listener.notes[0]
    assert f"{count} games of the memory" in listener.notes[0]
    assert path.with_name(path.name + ".damaged").exists() == (how != "gone")
    assert listener.last["games"] == 16
    assert listener.last["memory"] < listener.last["positions"]
    assert not go_on(killed)[1].noted("games of the memory")


def test_games_of_a_run_that_is_over(finished: Path) -> None:
    """Noted once, though nothing is left to do in the run that could be saved."""
    path = sorted((finished / "games").iterdir())[-1]
    spoil(path, "flipped")
    assert str(path) in go_on(finished)[1].notes[0]
    assert not go_on(finished)[1].noted(str(path))


def test_what_the_disk_cannot_read(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Games and states are set aside as if they were damaged."""
    spoilt = [sorted((finished / name).iterdir())[-1] for name in ("games", "state")]
    read = builtins.open

    def failing(path: Any, *arguments: Any, **options: Any) -> Any:
        if path in spoilt:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return read(path, *arguments, **options)

    with RunFolder(finished) as folder:
        folder.restore()
        monkeypatch.setattr(builtins, "open", failing)
        notes = folder.shards.latest(1, GO.N)[1] + folder.newest_state().notes
    for path, note in zip(spoilt, notes, strict=True):
        assert note.startswith(f"{path} cannot be read (Input/output error); it was set aside")


def test_games_of_another_version(tmp_path: Path) -> None:
    path = tmp_path / "games.npz"
    np.savez(path, moves=np.zeros(1))
    with pytest.raises(ValueError, match="is of another version"):
        read_shard(path, digest_of(path.read_bytes()))

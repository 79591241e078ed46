"""The folder of a run: what a disk, a typo or another process does to it is said, and nothing is lost."""

import errno
import json
import os
import re
import sys
import threading
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from alphago import GoEnv, NeuralNet, load_model
from alphago.cli import main
from alphago.records.record import load_records
from alphago.system.files import bytes_digest
from alphago.training.runs.folder import RunFolder, State, read_shard
from tests.training.small_runs import GO, Killed, Listener, RandomGames, Small, files, go_on, run, same, spoil


@pytest.mark.parametrize("how", ["flipped", "gone"])
def test_weights_of_a_run_that_is_over(finished: Path, finished_run: Small, how: str) -> None:
    """They are written anew from its state; damaged ones are told and kept."""
    path = finished / "weights.safetensors"
    spoil(path, how)
    net, listener = go_on(finished)
    assert same(net, finished_run.net)
    assert listener.noted(f"; it was set aside as {path.name}.damaged") == (how == "flipped")
    assert (finished / f"{path.name}.damaged").exists() == (how == "flipped")
    assert same(load_model(finished), finished_run.net)


class TestReadOnly:
    """A run whose folder cannot be written, whoever asks: a sentence, and nothing has changed."""

    def test_the_lock(self, finished: Path) -> None:
        (finished / "lock").unlink()
        (finished / "lock").mkdir()
        before = files(finished)
        with pytest.raises(OSError, match=rf"^the folder {finished} cannot be written: .* folder of that name$"):
            go_on(finished, 42)
        assert files(finished) == before

    def test_a_disk_that_takes_nothing_more(
        self, killed: Path, monkeypatch: pytest.MonkeyPatch, undisturbed: Small
    ) -> None:
        """The last checkpoint is the last, nothing is half-written; with room again, the run goes on."""

        def refuse(*_: object) -> None:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

        with monkeypatch.context() as patch:
            patch.setattr("os.replace", refuse)
            with pytest.raises(OSError, match=r" (could not|cannot) be written.*: Read-only .*$"):
                go_on(killed)
        assert not list(killed.rglob("*.part"))
        assert same(go_on(killed)[0], undisturbed.net)


IRREGULAR = ("metrics.jsonl", "evaluations.jsonl", "lock", "config.json", "config.copy.json", "weights.safetensors")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files on Windows")
@pytest.mark.parametrize(("name", "how"), [(name, how) for name in IRREGULAR for how in ("pipe", "link", "huge")])
def test_what_must_not_be_opened(killed: Path, undisturbed: Small, name: str, how: str) -> None:
    """In the place of a file of a run: the run goes on, or a sentence names the file or its folder; nothing hangs."""
    spoil(killed / name, how)
    # A log is cut to its length at the last save, and nothing is written to that of judges here.
    if how == "huge" or name.startswith(("config", "weights", "evaluations")):
        assert same(go_on(killed)[0], undisturbed.net)
    else:
        with pytest.raises((OSError, ValueError), match=f"{name}|the folder {killed} cannot be written"):
            go_on(killed)


class TestTrouble:
    @pytest.mark.slow
    @pytest.mark.parametrize("how", ["cut", "gone"])
    def test_lost_lines_of_metrics(self, killed: Path, undisturbed: Small, how: str) -> None:
        """It is said, and half a line is cut off instead of joined to the next."""
        path = killed / "metrics.jsonl"
        spoil(path, how)
        _, listener = go_on(killed)
        assert listener.noted(f"{path} has lost its end: ")
        numbers = [json.loads(line)["iteration"] for line in path.read_text().splitlines()]
        assert numbers == sorted(set(numbers))
        assert numbers[-1] == undisturbed.listener.rows[-1]["iteration"]
        assert not go_on(killed)[1].noted("has lost its end")

    def test_another_process_trains_there(self, tmp_path: Path) -> None:
        """One process, or one call, at a time; the lock goes with it, and so do its threads."""
        sentences: list[str] = []

        def meanwhile(number: int) -> None:
            with pytest.raises(BlockingIOError) as caught:
                go_on(tmp_path)
            sentences.append(str(caught.value))
            raise Killed

        threads = threading.active_count()
        with pytest.raises(Killed):
            run(tmp_path, 2, report=Listener(meanwhile), source=RandomGames)
        assert f"another process writes to {tmp_path} right now" in sentences[0]
        assert threading.active_count() == threads
        go_on(tmp_path, source=RandomGames)

    def test_leftovers_of_a_killed_process(self, finished: Path) -> None:
        part = finished / "state" / ".000099.safetensors.0123456789abcdef.part"
        part.write_bytes(b"half")
        go_on(finished)
        assert not part.exists()

    @pytest.mark.slow
    def test_a_run_killed_before_it_had_a_config(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The folder is as good as empty; one with a network of the user's own is not."""

        def kill(*_: object) -> None:
            raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(RunFolder, "write_config", kill)
            with pytest.raises(Killed):
                run(tmp_path / "run", 2, source=RandomGames)
        left = files(tmp_path / "run")
        assert ("weights.safetensors" in left, "config.json" in left) == (True, False)
        assert run(tmp_path / "run", 2, source=RandomGames)[1].last["games"] == 2
        NeuralNet(GO, tower_height=0, channels=4).save(tmp_path / "weights.safetensors")
        with pytest.raises(FileExistsError, match="is not empty: choose another folder"):
            run(tmp_path)

    def test_a_typo_in_the_folder_is_seen(self, finished: Path, capsys: pytest.CaptureFixture) -> None:
        strong, stong = finished.rename(finished.with_name("strong")), finished.with_name("stong")
        command = ["train", "--board-size", "3", "--games", "1", "--readouts", "1", "--tower-height", "0"]
        assert main([*command, "--folder", str(stong)]) == 0
        errors = capsys.readouterr().err
        assert f"there is no run in {stong}: did you mean strong?\n" in errors
        assert f"a new run of {GoEnv(3)} begins in {stong}\n" in errors
        assert main(["train", "--folder", str(strong)]) == 0
        assert not re.search("begins in|did you mean", capsys.readouterr().err)


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
    """Games and states are set aside as if they were damaged; without a state, the error says what to do."""
    games, state = (sorted((finished / name).iterdir())[-1] for name in ("games", "state"))
    sentence = "{} cannot be read (Input/output error); it was set aside"
    with RunFolder(finished) as folder, monkeypatch.context() as patch:
        folder.restore()
        patch.setattr("builtins.open", Mock(side_effect=OSError(errno.EIO, "Input/output error")))
        assert folder.shards.latest(1, GO.N)[1][0].startswith(sentence.format(games))
        words = re.escape(sentence.format(state)) + ".*; .*holds no state to go on from.* alphago train --model"
        with pytest.raises(ValueError, match=words):
            folder.newest_state()


def test_games_of_another_version(tmp_path: Path) -> None:
    path = tmp_path / "games.npz"
    np.savez(path, moves=np.zeros(1))
    with pytest.raises(ValueError, match="is of another version"):
        read_shard(path, bytes_digest(path.read_bytes()))


class TestStates:
    @pytest.mark.parametrize(
        ("how", "why"),
        [
            ("flipped", "is damaged"),
            ("pipe", "is no file"),
            pytest.param("cut", "is damaged", marks=pytest.mark.slow),
            pytest.param("empty", "is damaged", marks=pytest.mark.slow),
            pytest.param("link", "cannot be read (it is a link to itself)", marks=pytest.mark.slow),
            pytest.param("huge", "is too large (", marks=pytest.mark.slow),
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

    def test_two_are_kept(self, tmp_path: Path) -> None:
        with RunFolder(tmp_path) as folder:
            for number in (1, 2, 3):
                folder.write_state(State({"a": torch.full((2,), number)}, {"number": number}))
            assert [path.name for path in folder.states()] == ["000002.safetensors", "000003.safetensors"]
            assert folder.newest_state().data["number"] == 3

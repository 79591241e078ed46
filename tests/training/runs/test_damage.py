"""What a disk, another version or a typo does to a run's folder: a sentence says what to do, and nothing is lost."""

import errno
import json
import os
import pkgutil
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alphago.cli import main
from alphago.env.go import GoEnv
from alphago.nn.net import NeuralNet, load_model
from alphago.training.runs.config import parse_config, read_config, repair_config
from alphago.training.runs.folder import RunFolder
from alphago.training.runs.shards import digest_of, read_shard
from tests.training.small_runs import GO, go_on, run, same

WAY_OUT = "it cannot go on, but alphago train --model {0} --folder ANOTHER begins a new run with its network"


@pytest.fixture(scope="module")
def finished_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, NeuralNet]:
    """The folder of a run that is over, and its network."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    return folder, run(folder, 4)[0]


@pytest.fixture
def finished(finished_once: tuple[Path, NeuralNet], tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished_once[0], tmp_path / "run"))


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)


class TestWeights:
    """Those of a run that is over are written anew from its state."""

    def test_they_are_repaired_and_told(self, finished: Path, finished_once: tuple[Path, NeuralNet]) -> None:
        path = finished / "weights.safetensors"
        flip(path)
        net, listener = go_on(finished)
        assert listener.notes[0] == (
            f"{path} is damaged (it holds other weights than the state); it was set aside as "
            "weights.safetensors.damaged, and is written anew from the state"
        )
        assert "this run was over" in listener.notes[-1]
        assert same(net, finished_once[1])
        assert same(load_model(finished), finished_once[1])
        assert path.with_name(path.name + ".damaged").exists()
        whole = files(finished)
        assert "written anew" not in " ".join(go_on(finished)[1].notes)
        assert files(finished) == whole

    @pytest.mark.parametrize(
        ("spoil", "sentence"),
        [
            (lambda path: path.write_bytes(path.read_bytes()[:-20]), "is cut off"),
            (lambda path: path.write_bytes(b""), "is empty"),
            (Path.unlink, "is gone"),
        ],
        ids=["cut", "empty", "gone"],
    )
    def test_what_cannot_be_read(self, finished: Path, spoil: Callable[[Path], object], sentence: str) -> None:
        path = finished / "weights.safetensors"
        with RunFolder(finished) as folder:
            assert folder.check_weights(None) == []
            spoil(path)
            (note,) = folder.check_weights(None)
        assert note.startswith(f"{path} {sentence}")
        assert note.endswith("is written anew from the state")
        assert path.with_name(path.name + ".damaged").exists() == (sentence != "is gone")


class TestGames:
    def test_they_are_told_once(self, finished: Path) -> None:
        """Though nothing is left to do in the run that could be saved."""
        path = sorted((finished / "games").iterdir())[-1]
        flip(path)
        _, listener = go_on(finished)
        assert str(path) in listener.notes[0]
        assert "games of the memory" in listener.notes[0]
        assert path.with_name(path.name + ".damaged").exists()
        assert not any(str(path) in note for note in go_on(finished)[1].notes)

    def test_what_the_disk_cannot_read(self, finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Games and states are set aside as if they were damaged."""
        game, state = (sorted((finished / name).iterdir())[-1] for name in ("games", "state"))
        with RunFolder(finished) as folder:
            folder.restore()
            unreadable(monkeypatch, game, state)
            assert folder.states.read().notes[0].startswith(f"{state} cannot be read (Input/output error); it was set")
            _, notes = folder.shards.latest(1, GO.N)
        assert notes[0].startswith(f"{game} cannot be read (Input/output error); it was set aside")

    def test_games_of_another_version(self, tmp_path: Path) -> None:
        path = tmp_path / "games.npz"
        np.savez(path, moves=np.zeros(1))
        with pytest.raises(ValueError, match="is of another version"):
            read_shard(path, digest_of(path.read_bytes()))


def unreadable(patch: pytest.MonkeyPatch, *paths: Path) -> None:
    """Makes files ones that the disk cannot read any more."""
    read = Path.read_bytes

    def failing(self: Path) -> bytes:
        if self in paths:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(self))
        return read(self)

    patch.setattr(Path, "read_bytes", failing)


class TestConfig:
    @pytest.mark.parametrize("data", [b'{"game": "go"', b"", b"\xff\x00", b"[]", b'{"game": "go"}', None])
    def test_a_damaged_one_has_a_copy(self, finished: Path, data: bytes | None) -> None:
        path = finished / "config.json"
        before = path.read_bytes()
        if data is None:
            path.unlink()
        else:
            path.write_bytes(data)
        config = read_config(finished)
        assert config == parse_config(finished / "config.copy.json")
        (note,) = repair_config(finished, config)
        assert note.startswith(f"{path} is ")
        assert note.endswith("its copy is in its place")
        assert path.read_bytes() == before
        assert (finished / "config.json.damaged").exists() == (data is not None)
        assert repair_config(finished, config) == []

    @pytest.mark.parametrize("spoil", [Path.unlink, flip])
    def test_a_damaged_copy_is_made_anew(self, finished: Path, spoil: Callable[[Path], object]) -> None:
        copy = finished / "config.copy.json"
        before = copy.read_bytes()
        spoil(copy)
        assert repair_config(finished, read_config(finished)) == []
        assert copy.read_bytes() == before == (finished / "config.json").read_bytes()

    def test_a_run_goes_on_from_the_copy(self, finished: Path, finished_once: tuple[Path, NeuralNet]) -> None:
        (finished / "config.json").unlink()
        net, listener = go_on(finished)
        assert listener.notes[0] == f"{finished / 'config.json'} is gone; its copy is in its place"
        assert same(net, finished_once[1])

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            (lambda config: config["env"].update(eye_games=1), "has a game of another version"),
            (lambda config: config["env"].pop("komi"), "has a game of another version"),
            (lambda config: config.pop("until"), "is of another version, or incomplete (until)"),
            (lambda config: config.pop("changes"), "is of another version, or incomplete (changes)"),
            (lambda config: config.update(env=None), "is of another version, or incomplete (env)"),
            (lambda config: config["network"].pop("custom"), "has a network of another version ('custom')"),
            (lambda config: config["network"].pop("parts"), "has a network of another version ('parts')"),
            (lambda config: config["settings"].update(eyes=1), "has settings of another version"),
            (lambda config: config["settings"].pop("search"), "has settings of another version ('search')"),
            (lambda config: config.update(until={"nam": "gnugo"}), "has an opponent of another version"),
        ],
    )
    def test_of_another_version(
        self,
        finished: Path,
        capsys: pytest.CaptureFixture,
        change: Callable[[dict[str, Any]], object],
        sentence: str,
    ) -> None:
        """Python and the command line say what to do, and that works."""
        config = json.loads((finished / "config.json").read_text())
        change(config)
        for name in ("config.json", "config.copy.json"):
            (finished / name).write_text(json.dumps(config))
        before = files(finished)
        with pytest.raises(ValueError, match="of another version") as caught:
            go_on(finished)
        told = str(caught.value)
        assert sentence in told
        assert told.endswith(WAY_OUT.format(finished))
        assert main(["train", "--folder", str(finished)]) == 2
        error = capsys.readouterr().err
        assert "of another version" in error
        assert error.endswith(WAY_OUT.format(finished) + "\n")
        assert error.count("\n") == 1
        assert files(finished) == before

    def test_the_way_out(self, finished: Path, tmp_path: Path) -> None:
        for name in ("config.json", "config.copy.json"):
            (finished / name).write_text("{")
        command = ["train", "--model", str(finished), "--folder", str(tmp_path / "another"), "--games", "2"]
        assert main([*command, "--readouts", "2"]) == 0
        assert load_model(tmp_path / "another").env.N == GO.N

    def test_a_state_of_another_version(self, finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("alphago.training.run.COUNTS", ("phase", "games", "something_new"))
        with pytest.raises(ValueError, match=r"has a state of another version \('something_new'\): it cannot go"):
            go_on(finished)

    @settings(max_examples=100, deadline=None)
    @given(
        st.one_of(
            st.binary(max_size=40),
            st.recursive(
                st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
                lambda inner: (
                    st.lists(inner, max_size=3)
                    | st.dictionaries(
                        st.sampled_from(["game", "env", "network", "settings", "until"]), inner, max_size=5
                    )
                ),
                max_leaves=8,
            ).map(lambda value: json.dumps(value).encode()),
        )
    )
    def test_any_bytes_are_a_config_or_an_error(self, tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
        path = tmp_path_factory.getbasetemp() / "any.json"
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"^is (damaged|of another version, or incomplete) \("):
            parse_config(path)


class TestReadOnly:
    """A run whose folder cannot be written, whoever asks: a sentence, and nothing has changed."""

    def test_the_lock(self, finished: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
        before = files(finished)
        refused(monkeypatch, "builtins.open", finished)
        with pytest.raises(OSError, match=rf"^the folder {finished} cannot be written: Read-only file system$"):
            go_on(finished, 6)
        assert main(["train", "--folder", str(finished)]) == 2
        told = capsys.readouterr().err
        assert told == f"alphago train: the folder {finished} cannot be written: Read-only file system\n"
        assert files(finished) == before

    def test_a_lock_that_is_there_before_the_disk_is_read_only(
        self, finished: Path, monkeypatch: pytest.MonkeyPatch, finished_once: tuple[Path, NeuralNet]
    ) -> None:
        """The last checkpoint is the last."""
        with monkeypatch.context() as patch:
            refused(patch, "os.replace", finished)
            with pytest.raises(OSError, match=r"^the \w+ could not be written to .*: Read-only file system$"):
                go_on(finished, 6)
        assert not list(finished.rglob("*.part"))
        assert same(go_on(finished)[0], finished_once[1])

    def test_what_a_killed_process_left(self, finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (finished / ".half.part").write_bytes(b"")
        refused(monkeypatch, "pathlib.Path.unlink", finished)
        with pytest.raises(OSError, match=rf"^the run folder {finished} cannot be written: Read-only file system$"):
            go_on(finished)

    def test_a_new_run(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing half-written is left, and the folder is as good as empty."""
        with monkeypatch.context() as patch:
            refused(patch, "os.replace", tmp_path / "run" / "config.json")
            with pytest.raises(OSError, match=r"^the config could not be written to .*: Read-only file system$"):
                run(tmp_path / "run", 2)
        assert not list(tmp_path.rglob("*.part"))
        with RunFolder(tmp_path / "run") as folder:
            assert folder.config is None


def refused(patch: pytest.MonkeyPatch, name: str, where: Path) -> None:
    """Makes a function that writes fail for what is at or under that path, as on a read-only disk, also for root."""
    home, _, attribute = name.rpartition(".")
    owner = pkgutil.resolve_name(home)
    function = getattr(owner, attribute)

    def failing(*arguments: Any, **options: Any) -> Any:
        target = Path(arguments[-1] if attribute == "replace" else arguments[0])
        reads = attribute == "open" and (arguments[1:2] or ("r",))[0] in ("r", "rb")
        if not reads and (target == where or where in target.parents):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(target))
        return function(*arguments, **options)

    patch.setattr(owner, attribute, failing)


class TestNewRuns:
    def test_a_typo_in_the_folder_is_seen(self, finished: Path, capsys: pytest.CaptureFixture) -> None:
        strong, stong = finished.rename(finished.with_name("strong")), finished.with_name("stong")
        command = ["train", "--board-size", "3", "--games", "1", "--readouts", "1", "--tower-height", "0"]
        assert main([*command, "--folder", str(stong)]) == 0
        told = capsys.readouterr().err
        assert f"there is no run in {stong}: did you mean strong?\n" in told
        assert f"a new run of {GoEnv(3)} begins in {stong}\n" in told
        assert main(["train", "--folder", str(strong)]) == 0
        told = capsys.readouterr().err
        assert "begins in" not in told
        assert "did you mean" not in told

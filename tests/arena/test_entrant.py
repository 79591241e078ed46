"""How players of a match are named."""

from pathlib import Path

import pytest

from alphago.arena.entrant import parse_entrant


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which names are read, except for a run's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.safetensors").touch()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "weights.safetensors").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("text", "readouts", "search", "name"),
    [
        ("", 64, "puct", "@64"),
        ("@0", 0, "puct", "@0"),
        ("@400", 400, "puct", "@400"),
        ("@gumbel", 64, "gumbel", "@64,gumbel"),
        ("@32,gumbel", 32, "gumbel", "@32,gumbel"),
        ("@32,puct", 32, "puct", "@32"),
    ],
)
def test_networks(text: str, readouts: int, search: str, name: str) -> None:
    path = "new.safetensors"
    entry = parse_entrant(path + text)
    assert (entry.readouts, entry.search, entry.name) == (readouts, search, path + name)
    assert entry.model == Path(path)


def test_run_folders() -> None:
    entry = parse_entrant("run@8")
    assert entry.model == Path("run") / "weights.safetensors"
    assert entry.name == "run@8"


def test_others() -> None:
    entry = parse_entrant("random", readouts=8, search="gumbel")
    assert (entry.name, entry.model, entry.readouts, entry.search) == ("random", None, 0, "")


def test_a_file_that_is_called_like_a_player(folder: Path) -> None:
    """The player comes first; a path or readouts name the file."""
    (folder / "random").write_text("")
    assert parse_entrant("random").model is None
    assert parse_entrant("./random").model == Path("random")
    assert parse_entrant("random@3").model == Path("random")


def test_an_at_sign_in_a_path(folder: Path) -> None:
    (folder / "me@home").mkdir()
    path = "me@home/new.safetensors"
    Path(path).touch()
    assert (parse_entrant(path, 8).model, parse_entrant(path, 8).readouts) == (Path(path), 8)
    assert (parse_entrant(f"{path}@3").base, parse_entrant(f"{path}@3").readouts) == (path, 3)
    with pytest.raises(ValueError, match="me@house/x: after @ come readouts"):
        parse_entrant("./me@house/x")

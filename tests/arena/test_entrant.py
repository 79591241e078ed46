"""How players of a match are named."""

import sys
from pathlib import Path

import pytest

from alphago.arena.engine import EngineError
from alphago.arena.entrant import EntrantText, parse_entrant, read_entrants, resolve_player


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
    assert entry.model == Path(path)
    assert parse_entrant(entry.name).with_defaults(64) == entry.with_defaults(64)
    entry = entry.with_defaults(64)
    assert (entry.readouts, entry.search, entry.name) == (readouts, search, path + name)


def test_levels() -> None:
    entry = parse_entrant("new.safetensors@level=7.5")
    assert (entry.level, entry.name, entry.base) == (7.5, "new.safetensors@level=7.5", "new.safetensors")
    assert parse_entrant("run@level=10").name == "run@200"  # full strength
    for text, told in {"0": "from 1 to 10", "": "after @ must come", "even": "must be a number from 1 to 10"}.items():
        with pytest.raises(ValueError, match=told):
            parse_entrant(f"run/x@level={text}")


def test_an_engine_by_its_command() -> None:
    """All after `gtp:` is the command, an @ too; a program that does not exist is told at once."""
    text = f"gtp:'{sys.executable}' -c 'one two' --name me@home"
    assert parse_entrant(text) == EntrantText(text, None)
    engine = resolve_player(text)
    assert engine.command == (sys.executable, "-c", "one two", "--name", "me@home")
    with pytest.raises(EngineError, match=r"^gtp:./none --x cannot be started: there is no program ./none$"):
        parse_entrant("gtp:./none --x")
    for text in ("gtp:", "gtp: ", "gtp:'x"):
        with pytest.raises(ValueError, match=f"after gtp: must come a command such as .*, got {text!r}"):
            parse_entrant(text)


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
    assert (parse_entrant(path).model, parse_entrant(path).readouts) == (Path(path), None)
    assert (parse_entrant(f"{path}@3").base, parse_entrant(f"{path}@3").readouts) == (path, 3)
    with pytest.raises(ValueError, match="me@house/x: after @ must come readouts"):
        parse_entrant("./me@house/x")


def test_an_engine_is_known_by_what_it_says(folder: Path) -> None:
    """So an evaluation is not continued with another version of it."""
    program = folder / "engine.py"

    def identity(version: str) -> str:
        program.write_text(f"for _ in open(0): print('= {version}', end='\\n\\n', flush=True)\n")
        _, (_, entrant) = read_entrants(["random", f"gtp:{sys.executable} {program}"], board_size=5)
        return entrant.weights

    assert identity("1.2") == "1.2 1.2" != identity("1.3")

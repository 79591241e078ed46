"""What a source distribution and a wheel contain: what the tests and README need, and where the networks come from."""

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

from alphago.nn.model_files import model_file, packaged_nets, read_description

ROOT = Path(__file__).parents[1]


def test_the_networks_are_told_of() -> None:
    """Their games, as the files' own headers say."""
    table = (ROOT / "alphago" / "nets" / "README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([\w-]+) \| ([\d ]+) \|", table, re.MULTILINE))
    told = {name: games.replace(" ", "") for name, games in rows.items()}
    assert told == {name: read_description(model_file(name))["extra"]["games"] for name in packaged_nets()}


def test_the_wheel_has_every_file_that_is_no_module() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["package-data"]
    for path in (ROOT / "alphago").rglob("*"):
        name = path.relative_to(ROOT / "alphago").as_posix()
        if path.is_file() and path.suffix not in (".py", ".pyc", ".pyi") and "__pycache__" not in name:
            assert any(fnmatch(name, pattern) for pattern in data["alphago"]), name


def test_the_source_distribution_has_what_is_beside_the_package() -> None:
    lines = (ROOT / "MANIFEST.in").read_text(encoding="utf-8").split()
    assert {"tests", "docs", "examples", "benchmarks", "CHANGELOG.md", "constraints.txt", "mkdocs.yml"} <= set(lines)

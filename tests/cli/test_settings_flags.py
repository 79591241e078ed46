"""Flags of settings in parts: what `--help` shows and `--help-all`, and what becomes of the values."""

from typing import Any

import pytest

from alphago.cli.options import Parser
from alphago.cli.settings_flags import add_tree, given_keywords
from alphago.system.settings_tree import SettingsTree, group, part, parts
from alphago.system.validation import setting, settings


@settings
class Lamp:
    watts: int = setting("power of the bulb; None for `most_watts`", default=40, least=1)


@settings
class Candle:
    hours: float = setting("how long it burns (a tea light: 4)", default=4.0, positive=True)
    watts: int = setting("power", default=60, least=1)


@settings
class Guest:
    share: float = setting("share of the evenings", default=0.5, least=0, most=1)
    chairs: int = setting("chairs to bring", default=1)


@settings
class Kitchen:
    doors: int = setting("doors; at least one", default=1, least=1, shown="doors")
    threads: int = setting("cooks", default=None, automatic=True)
    fast: bool = setting("whether to hurry", default=None, automatic=True)


@settings
class House:
    most_watts: int | None = setting(
        "limit of the power; None for none", default=None, shown="limit of the power", python="Or a Fuse"
    )
    kitchen: Kitchen = group("kitchen", Kitchen)
    light: Any = part("what burns", default=Lamp(), title="light", shown="what burns")
    guests: tuple[Any, ...] = parts("those who come")


TREE = SettingsTree(House, {"light": {"lamp": Lamp, "candle": Candle}, "guests": {"aunt": Guest}})


@pytest.fixture
def parser() -> Parser:
    parser = Parser(prog="house")
    add_tree(parser, TREE, "house", flags={"most_watts": "limit"}, notes={"the aunt": "Any of these invites her."})
    return parser


def test_what_is_given(parser: Parser) -> None:
    words = "--limit none --doors 2 --threads none --no-fast --light candle --hours 3 --aunt 0.25 --aunt-chairs 2"
    given = given_keywords(parser.parse_args(words.split()), TREE)
    expected = {"most_watts": None, "doors": 2, "threads": None, "fast": False, "light": "candle", "hours": 3.0}
    assert given == {**expected, "aunt": 0.25, "aunt_chairs": 2}
    assert TREE.make(given).guests == (Guest(0.25, 2),)
    assert given_keywords(parser.parse_args([]), TREE) == {}
    assert given_keywords(parser.parse_args(["--aunt", "none"]), TREE) == {"aunt": None}


def test_help_shows_what_people_set(parser: Parser) -> None:
    text = parser.format_help()
    assert [" ".join(line.split()) for line in text.splitlines() if line.startswith("  --")] == [
        "--limit N limit of the power",
        "--doors N doors (1)",
        "--light NAME what burns: lamp, candle (lamp)",
    ]
    assert "invites" not in text


def test_help_all_shows_all(parser: Parser, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        parser.parse_args(["--help-all"])
    text = capsys.readouterr().out
    assert "\nthe aunt:\n  Any of these invites her.\n" in text
    for line in (
        "--limit N limit of the power; none for none",
        "--doors N doors; at least one (1)",
        "--threads N cooks",
        "--no-fast whether to hurry",
        "--watts N power of the bulb; none for --limit (40)",
        "--hours X how long it burns (a tea light: 4) [candle] (4.0)",
        "--aunt X share of the evenings",
        "--aunt-chairs N chairs to bring (1)",
    ):
        assert line in " ".join(text.split()), line
    assert "guests" not in text
    assert "Fuse" not in text
    assert parser.format_help().count("--watts") == 0, "--help is as short as before"

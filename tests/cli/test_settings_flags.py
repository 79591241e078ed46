"""Flags of settings in parts: what `--help` shows and `--help-all`, and what becomes of the values."""

from typing import Any

import pytest

from alphago.cli.options import Parser
from alphago.cli.settings_flags import SHORT, add_flags, given_settings
from alphago.system.settings import group, make, part
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
    light: Any = part(
        "what burns", default=Lamp(), title="light", choices={"lamp": Lamp, "candle": Candle}, shown="what burns"
    )
    aunt: Guest | None = part(
        "whether the aunt comes", default=None, title="the aunt", kind=Guest, prefix="aunt_", first=True, optional=True
    )
    paint: str = setting("colour of the walls", default="white", rare=True)
    windows: int = setting("panes of glass", default=4, least=1, rare=True)


@pytest.fixture
def parser(monkeypatch: pytest.MonkeyPatch) -> Parser:
    monkeypatch.setitem(SHORT, "most_watts", "limit")
    parser = Parser("house")
    add_flags(parser, House, "house", notes={"the aunt": "Any of these invites her."})
    return parser


def test_what_is_given(parser: Parser) -> None:
    words = "--limit none --doors 2 --threads none --no-fast --light candle --hours 3 --aunt 0.25 --aunt-chairs 2"
    given = given_settings(parser.parse_args(words.split()), House)
    expected = {"most_watts": None, "doors": 2, "threads": None, "fast": False, "light": "candle", "hours": 3.0}
    assert given == {**expected, "aunt": 0.25, "aunt_chairs": 2}
    assert make(House, given).aunt == Guest(0.25, 2)
    assert given_settings(parser.parse_args([]), House) == {}
    assert given_settings(parser.parse_args(["--aunt", "none"]), House) == {"aunt": None}


def test_what_is_given_by_path(parser: Parser, capsys: pytest.CaptureFixture[str]) -> None:
    """A value is read as its setting's type; a path that there is not is answered with near misses."""
    words = ["--set", "windows=6", "--set", "paint=red", "--set", "light.hours=2", "--light", "candle"]
    given = given_settings(parser.parse_args(words), House)
    assert given == {"windows": 6, "paint": "red", "light.hours": 2.0, "light": "candle"}
    made = make(House, given)
    assert (made.windows, made.paint, made.light) == (6, "red", Candle(2.0))
    for wrong, sentence in (
        ("window=6", "--set has no setting window: did you mean windows"),
        ("windows", "--set takes PATH=VALUE, got windows"),
        ("windows=many", "--set windows must be an integer, got 'many'"),
    ):
        with pytest.raises(SystemExit, match="2"):
            parser.parse_args(["--set", wrong])
        assert sentence in capsys.readouterr().err


def test_help_shows_what_people_set(parser: Parser) -> None:
    text = parser.format_help()
    assert [" ".join(line.split()) for line in text.splitlines() if line.startswith("  --")] == [
        "--limit N limit of the power",
        "--doors N doors (1)",
        "--light NAME what burns: lamp, candle (lamp)",
        "--set PATH=VALUE any setting by its path, as paint",
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
    assert "Fuse" not in text
    assert parser.format_help().count("\n  --watts") == 0, "--help is as short as before"

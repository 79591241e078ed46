"""Flags made from settings: what `--help` shows of them, what becomes of their values, and errors of mistyped ones."""

from collections.abc import Callable
from typing import Literal

import pytest

from alphago import GameEnv, GoEnv, GomokuEnv, OwareEnv
from alphago.arena.tournament import TournamentSettings
from alphago.cli import main, make_parser
from alphago.cli.models import add_game_settings, given_game_settings
from alphago.cli.options import Parser, keyword_settings
from alphago.cli.settings_flags import SHORT, add_flags, given_settings, to_setting
from alphago.env.games import GAMES
from alphago.mcts.search_specs import SEARCHES
from alphago.system.settings import addresses, group, keywords, make_settings
from alphago.system.validation import setting, settings
from alphago.training.settings.run_settings import RunSettings
from alphago.training.settings.selfplay_settings import SelfPlaySettings
from alphago.training.supervised.supervised_settings import SupervisedSettings
from tests.system.test_settings import Deep, Door, Root
from tests.training.small_runs import run_settings


@settings
class Kitchen:
    doors: int = setting("doors (a hut: 1); None for `most_doors`", default=1, least=1, shown="doors")
    fast: bool = setting("whether to hurry", default=None)
    lit: bool = setting("whether it is lit", default=False)
    colour: Literal["red", "blue"] = setting("of the walls", default="red")
    steps: tuple[tuple[int, float], ...] = setting("of a dimmer", default=())
    dimmed: bool | None = setting("whether it is dimmed", default=None)
    range: tuple[float, float] | None = setting("of its light", default=None)
    rooms: str | tuple[tuple[int, float], ...] = setting("where its light falls", default="all")


@settings
class House(Root):
    most_doors: int | None = setting("limit; None for none", default=None, shown="limit of doors", python="Or a Gate")
    kitchen: Kitchen = group("kitchen", Kitchen)
    paint: str = setting("colour of the walls", default="white", path_only=True)
    windows: int = setting("panes of glass", default=4, least=1, path_only=True)


@pytest.fixture(params=[False])
def parser(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Parser:
    """The parser of a house; in full if the test's parameter is True."""
    monkeypatch.setitem(SHORT, "most_doors", "limit")
    parser = Parser("house", in_full=request.param)
    add_flags(parser, House, "house")
    return parser


class TestSettings:
    def test_help_from_a_docstring(self) -> None:
        """Of one of several keywords, on several lines."""
        text = "A room.\n\ncolour, shade: of the walls; on a\n    sunny day.\nRaises nothing at all."
        room = type("Room", (), {"__doc__": text, "__init__": lambda self, shade=0.5: None})
        assert [setting.help for setting in keyword_settings(room)] == ["of the walls; on a sunny day (0.5)"]

    @pytest.mark.parametrize(
        ("words", "value"),
        [
            ("--dimmed", True),
            ("--no-dimmed", False),
            ("--range 0.5:3", (0.5, 3.0)),
            ("--range=-2:3", (-2.0, 3.0)),
            ("--range none", None),
            ("--steps none", ()),
            ("--steps ()", ()),
            ("--steps=", ()),
            ("--rooms all", "all"),
            ("--set lit=No", False),
            ("--rooms 1:0.5", ((1, 0.5),)),
            ("--rooms 1:0.5,3:0.75", ((1, 0.5), (3, 0.75))),
        ],
    )
    def test_how_values_are_typed(self, words: str, value: object, parser: Parser) -> None:
        assert list(given_settings(parser.parse_args(words.split()), House).values()) == [value]

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            ("--leaves x", "argument --leaves: must be an integer, got 'x'"),
            ("--steps 7", "argument --steps: must be pairs such as 7:0.3,9:0.7, got '7'"),
            ("--range 7", "argument --range: must be a pair such as 0:40, got '7'"),
            ("--colour green", "argument --colour: invalid choice: 'green'"),
            ("--widht 3", "no option --widht: did you mean --width"),
            ("--zzzz=3", "no option --zzzz: house --help lists them all"),
            ("--no 4", "no option --no: did you mean --no-fast or --no-lit or --no-dimmed?"),
            ("--leaves-x 3", "no option --leaves-x: did you mean --leaves"),
            ("extra", "unrecognized arguments: extra"),
            ("--set window=6", "argument --set: has no setting window: did you mean windows"),
            ("--set windows", "argument --set: must be PATH=VALUE, got windows"),
            ("--set lit=0", "argument --set: lit must be yes or no, got '0'"),
            ("--set windows=many", "argument --set: windows must be an integer, got 'many'"),
        ],
    )
    def test_errors(self, words: str, sentence: str, parser: Parser, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit, match="2"):
            parser.parse_args(words.split())
        error = capsys.readouterr().err
        assert error.startswith(f"house: {sentence}")
        assert error.count("\n") == 1

    def test_what_is_given(self, parser: Parser) -> None:
        words = "--limit none --doors 2 --threads none --no-fast --search broad --width 3 --gate 0.25 --gate-games 2"
        given = given_settings(parser.parse_args(words.split()), House)
        expected = {"most_doors": None, "doors": 2, "threads": None, "fast": False, "search": "broad", "width": 3}
        assert given == {**expected, "gate": 0.25, "gate_games": 2}
        assert make_settings(House, given).gate == Door(0.25, 2)
        assert given_settings(parser.parse_args([]), House) == {}
        assert given_settings(parser.parse_args(["--gate", "none"]), House) == {"gate": None}

    def test_what_is_given_by_path(self, parser: Parser) -> None:
        """A value is read as its setting's type."""
        words = ["--set", "windows=6", "--set", "paint=red", "--set", "search.depth=2"]
        given = given_settings(parser.parse_args(words), House)
        assert given == {"windows": 6, "paint": "red", "search.depth": 2.0}
        made = make_settings(House, given)
        assert (made.windows, made.paint, made.play.search) == (6, "red", Deep(2.0))

    def test_help_shows_what_people_set(self, parser: Parser) -> None:
        assert [" ".join(line.split()) for line in parser.format_help().splitlines() if line.startswith("  --")] == [
            "--search NAME the search: broad, deep (deep)",
            "--limit N limit of doors",
            "--doors N doors (1)",
            "--set PATH=VALUE any setting by its path, as trace",
            "--help-all show all options, by part, and exit",
        ]

    @pytest.mark.parametrize("parser", [True], indirect=True)
    def test_help_all_shows_all(self, parser: Parser, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit, match="0"):
            parser.parse_args(["--help-all"])
        text = capsys.readouterr().out
        assert "\nthe gate:\n" in text
        for line in (
            "--limit N limit; none for none",
            "--doors N doors (a hut: 1); none for --limit (1)",
            "--threads N threads",
            "--no-fast whether to hurry",
            "--depth X how deep [deep] (2.0)",
            "--gate X how often",
            "--gate-games N how many (10)",
        ):
            assert line in " ".join(text.split()), line
        assert "Or a Gate" not in text

    @pytest.mark.parametrize("target", [RunSettings, *SEARCHES.values(), TournamentSettings, *GAMES.values()])
    def test_every_setting_is_described(self, target: type) -> None:
        found = keyword_settings(target) if target in GAMES.values() else map(to_setting, addresses(target).values())
        texts = {one.name: one.text for one in found if one.name != "board_size"}
        assert [name for name, text in texts.items() if not text] == []
        assert len(set(texts.values())) == len(texts), "each has a text of its own"

    @pytest.mark.parametrize(
        ("verb", "root"),
        [("train", RunSettings), ("selfplay", SelfPlaySettings), ("supervised", SupervisedSettings)],
        ids=["train", "selfplay", "supervised"],
    )
    def test_help_all_lists_every_setting(self, verb: str, root: type) -> None:
        """Except what cannot be typed: judges, memories and targets of one's own."""
        text = make_parser(verb, in_full=True).format_help()
        names = {SHORT.get(name, name) for name in keywords(root)}
        missing = {name for name in names if f"--{name.replace('_', '-')} " not in text.replace(",", " ")}
        assert missing <= {"judges", "memory", "targets"}

    def test_every_keyword_of_a_game_has_a_flag(self) -> None:
        text = make_parser("train", in_full=True).format_help()
        for target in GAMES.values():
            assert [one for one in keyword_settings(target) if f"--{one.name.replace('_', '-')}" not in text] == []

    def test_a_flag_of_several_games(self, capsys: pytest.CaptureFixture[str]) -> None:
        """`planes` is Go's and Gomoku's: help shows both texts, and the value is read once."""
        parser = Parser("alphago", in_full=True)
        add_game_settings(parser)
        given = given_game_settings(parser.parse_args(["--planes", "17", "--komi", "none"]))
        assert given == {"planes": 17, "komi": None}
        help_text = " ".join(parser.format_help().split())
        for name in ("go", "gomoku"):
            text = {setting.name: setting.text for setting in keyword_settings(GAMES[name])}["planes"]
            assert f"{name}: {text[:40]}" in help_text

    def test_defaults_are_shown(self) -> None:
        texts = {setting.name: setting.help for setting in keyword_settings(GoEnv)}
        assert texts["first_pass"].endswith(" (0)")
        assert "(None)" not in texts["komi"]
        text = " ".join(make_parser("train", in_full=True).format_help().split())
        assert "0.5:0.1,0.8:0.01" in text
        assert "7:0.25 plays the first quarter" in text
        assert "by default half of the readouts, 2 to 16" in text


class TestTrain:
    """What the flags of `alphago train` become."""

    @pytest.fixture
    def given(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], tuple]:
        calls: list[tuple] = []
        monkeypatch.setattr(
            "alphago.training.call.train_call.train",
            lambda *words, reports, device, **keywords: calls.append((*words, keywords)),  # that run as asked for
        )

        def call(command: str) -> tuple:
            assert main(["train", *command.split()]) == 0
            return calls[-1]

        return call

    def test_what_is_taken_off(self, given: Callable[[str], tuple]) -> None:
        flags = ("until", "gate", "minutes", "games", "resign-threshold", "watch", "groups", "first-readouts")
        _, settings = given(" ".join(f"--{flag} none" for flag in flags))
        names = "until gate max_minutes num_games resign_threshold watch groups first_readouts"
        assert settings == dict.fromkeys(names.split())
        expected = {"until": "random", "curriculum": (), "bfloat16": False}
        assert given("--until random --curriculum none --no-bfloat16")[1] == expected

    @pytest.mark.parametrize(
        ("command", "settings"),
        [
            ("--games 7 --minutes 3 --exact-rules", {"num_games": 7, "max_minutes": 3.0, "exact_rules": True}),
            ("--schedule steps", {"schedule": "steps"}),
            ("--schedule 0.5:0.1,0.8:0.01", {"schedule": ((0.5, 0.1), (0.8, 0.01))}),
            ("--curriculum 7:0.25,9:0.5", {"curriculum": ((7, 0.25), (9, 0.5))}),
            ("--loss-value 0.5 --set losses.l2=0.1", {"loss_value": 0.5, "losses.l2": 0.1}),
            ("--gate 0.6 --gate-games 40", {"gate": 0.6, "gate_games": 40}),
            ("--gate-every 40 --gate-readouts none", {"gate_every": 40, "gate_readouts": None}),
            ("--watch random@0,rave:10 --watch-share 0.1", {"watch": ("random@0", "rave:10"), "watch_share": 0.1}),
            ("--search puct --c-puct 5 --no-decisive-moves", {"search": "puct", "c_puct": 5, "decisive_moves": False}),
            ("--search puct --set search.squash=0.5", {"search": "puct", "search.squash": 0.5}),
        ],
    )
    def test_values_with_parts(self, command: str, settings: dict, given: Callable[[str], tuple]) -> None:
        assert given(f"--board-size 9 {command}")[1] == settings
        run_settings(**settings)

    @pytest.mark.parametrize(
        ("command", "env"),
        [
            ("", GoEnv(9, komi=7)),
            ("--board-size 7 --komi 8.5 --planes 17 --first-pass 3", GoEnv(7, komi=8.5, planes=17, first_pass=3)),
            ("--game gomoku --board-size 9 --connect-row 4", GomokuEnv(9, 4)),
            ("--preset 7x7", GoEnv(7, komi=9)),
            ("--preset 7x7 --board-size 5", GoEnv(5)),
            ("--preset 7x7 --komi 9.5", GoEnv(7, komi=9.5)),
            ("--preset cody2007", GoEnv(7, komi=0, turns=20, first_pass=40, planes="turns")),
            ("--preset cody2007 --board-size 3", GoEnv(3, turns=20, first_pass=40, planes="turns")),
            ("--preset oware", OwareEnv()),
            ("--preset oware --max-moves 150", OwareEnv(150)),
            ("--preset oware --game go --board-size 5", GoEnv(5)),
            ("--model 9x9", GoEnv(9, komi=7)),
            ("--model 9x9 --preset 7x7", GoEnv(7, komi=9)),
            ("--model 9x9 --preset 7x7 --komi 8", GoEnv(7, komi=8)),
            ("--model 9x9 --preset 13x13 --board-size 6", GoEnv(6)),
        ],
    )
    def test_the_game(self, command: str, env: GameEnv, given: Callable[[str], tuple]) -> None:
        """A preset brings its game and board, unless others are named; a model plays the preset's, not its own."""
        played, settings = given(command)
        assert played == env
        assert settings.keys() == {word[2:] for word in command.split() if word in ("--preset", "--model")}

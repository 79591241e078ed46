"""The parser of a command, and its options: how their values are written, and what help says of them.

Values are written as in Python, except for tuples: 7:0.25,9:0.25 is ((7, 0.25), (9, 0.25)).  The word none sets an
optional setting to None.
"""

import argparse
import ast
import contextlib
import inspect
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import NoneType
from typing import Any, Literal, NoReturn, get_args, get_origin, get_type_hints

from alphago.system.validation import near_misses, union_members

PARAGRAPH = re.compile(r"^(?P<indent> *)(?P<names>\w+(?:, \w+)*): (?P<text>.+(?:\n(?P=indent) +.+)*)", re.MULTILINE)
TUPLES = re.compile(r"\({2,}[\d.,\s()]*\)")  # nested tuples in help texts
METAVARS = {int: "N", float: "X", str: "TEXT"}
EXPECTED = {
    int: "an integer",
    float: "a number",
    str: "text",
    bool: "yes or no",
    tuple[int, ...]: "integers such as 0,64",
}
YES_OR_NO = {"yes": True, "true": True, "no": False, "false": False}


class Parser(argparse.ArgumentParser):
    """An argument parser with errors of one line and suggestions for mistyped flags, which cannot be abbreviated."""

    def __init__(self, prog: str, run: Callable[..., int] | None = None, *, in_full: bool = False) -> None:
        """Make the parser of the command `prog`.

        Args:
            run: runs the command with the parsed options, which have it as `run`.  The first paragraph of its docstring
                is the description of the command, and the others stand below the options.
            in_full: whether its help is that of --help-all, with every option, by part; see `set_brief_help`.
        """
        width = max(60, min(120, shutil.get_terminal_size().columns - 2))  # less 2, as argparse itself has it
        text = (inspect.getdoc(run) or "") if run else ""
        description, _, epilog = text.partition("\n\n")
        formatter = partial(argparse.HelpFormatter, max_help_position=30, width=width)
        # Without abbreviations, since --game of a command without it would be taken as --games.
        super().__init__(prog, description=description, epilog=epilog, allow_abbrev=False, formatter_class=formatter)
        self.set_defaults(run=run)
        self.why_no_option: dict[str, str] = {}  # by a flag that the command does not have: the reason, for errors
        self.in_full = in_full

    def set_brief_help(self, flag: str, text: str) -> None:
        """Let --help show `text` instead of an option's help; for an empty text, leave the option out of --help.

        --help-all shows every option with its help.

        Args:
            flag: the option's flag.
        """
        if "--help-all" not in self._option_string_actions:
            option(self, "--help-all", "show all options, by part, and exit", action="help")
        if not self.in_full:
            self._option_string_actions[flag].help = text or argparse.SUPPRESS

    def section(self, title: str) -> argparse._ArgumentGroup:
        """Return the group of options called `title` in --help-all."""
        known = {group.title: group for group in self._action_groups}
        return known.get(title) or self.add_argument_group(title)

    def format_help(self) -> str:
        """Return the text of --help, without titles of parts and lists of choices if options were shortened."""
        if "--help-all" in self._option_string_actions and not self.in_full:
            # The groups and metavars of argparse itself are changed, since it has no other way to say this.
            self._action_groups = [self._positionals, self._optionals]
            options = [action for action in self._actions if action.option_strings]
            # --help-all comes last, since True sorts after False.
            self._optionals._group_actions = sorted(options, key=lambda action: "--help-all" in action.option_strings)
            for action in options:
                action.metavar = "NAME" if action.choices else action.metavar
        return super().format_help()

    def parse_args(self, arguments: Sequence[str] | None = None, namespace: Any = None) -> argparse.Namespace:  # type: ignore[override]
        """Parse a command line; for an unknown flag, exit with a message that suggests similar flags."""
        words = list(sys.argv[1:] if arguments is None else arguments)
        may_be_flags = words[: words.index("--")] if "--" in words else words  # no word after -- is a flag
        flags = [flag for flag in self._option_string_actions if flag.startswith("--")]
        given = [word.partition("=")[0] for word in may_be_flags if word.startswith("--")]
        for flag in [flag for flag in given if flag not in flags]:  # `error` below exits at the first
            # Flags cannot be abbreviated, but the unknown one may be meant as an abbreviation.
            longer = [known for known in flags if known.startswith(flag)]
            near = f"did you mean {' or '.join(longer)}?" if longer else ""
            near = near or near_misses(flag, flags, otherwise=f"{self.prog} --help lists them all")
            self.error(f"no option {flag}: {self.why_no_option.get(flag, near)}")
        positionals = [action for action in self._actions if not action.option_strings]
        if any(action.nargs in ("+", "*") for action in positionals):  # several words, which options may separate
            return super().parse_intermixed_args(words, namespace)
        return super().parse_args(words, namespace)

    def error(self, message: str) -> NoReturn:
        """Print one line on stderr, without the usage that argparse prints, and exit with code 2."""
        self.exit(2, f"{self.prog}: {message}\n")


def format_usage(parser: Parser) -> str:
    """Return how a command is called: its arguments, the options that must be given, and [OPTIONS]."""
    words = [parser.prog]
    for action in parser._actions:
        value = f"{action.metavar or action.dest}"
        if not action.option_strings:
            by_nargs = {"?": f"[{value}]", "*": f"[{value}...]", "+": f"{value}..."}
            words.append(by_nargs.get(f"{action.nargs}", value))  # without `nargs`, a single value
        elif action.required:
            words += [action.option_strings[0], value]
    return " ".join([*words, "[OPTIONS]"])


@dataclass(frozen=True)
class Setting:
    """One setting and its option on the command line.

    Attributes:
        name: its keyword, under which the parsed options have the value.
        types: the types of its values; an optional setting also has NoneType.
        default: the value that the help shows.
        text: the help.
        choices: the possible values if its type is a Literal.
    """

    name: str
    types: tuple[Any, ...]
    default: Any = None
    text: str = ""
    choices: tuple[str, ...] = ()

    def read(self, text: str) -> Any:
        """Return the value that a text of the command line stands for; raise ArgumentTypeError if it is invalid."""
        if NoneType in self.types and text.lower() == "none":
            return None
        types = [kind for kind in self.types if kind is not NoneType]
        for kind in sorted(types, key=lambda kind: kind is str):  # str last, because it takes any text
            with contextlib.suppress(ValueError):
                return read_value(kind, text)
        raise argparse.ArgumentTypeError(f"must be {' or '.join(map(self.expected, types)) or 'none'}, got {text!r}")

    def expected(self, kind: Any) -> str:
        """Return a description of a type's values for error messages; for several pairs, with the help's example."""
        if kind in EXPECTED:
            return EXPECTED[kind]
        if Ellipsis not in get_args(kind):  # tuple[int, int], one pair, and not tuple[tuple[int, float], ...]
            return "a pair such as 0:40"
        example = TUPLES.search(self.text)
        return f"pairs such as {shell_notation(example[0]) if example else '7:0.3,9:0.7'}"

    @property
    def help(self) -> str:
        """The help with tuples in the command line's notation, and with the default if there is one."""
        text = TUPLES.sub(lambda match: shell_notation(match[0]), self.text)
        if self.default in (None, (), inspect.Parameter.empty):
            return text
        if isinstance(self.default, bool):
            return f"{text} ({'yes' if self.default else 'no'})"
        return f"{text} ({format_value(self.default)})"

    @property
    def metavar(self) -> str:
        """What stands for the value in the help, such as "N" for an integer, "N|X" for an integer or a number."""
        metavars = [METAVARS.get(kind) or tuple_metavar(kind) for kind in self.types if kind is not NoneType]
        return "|".join(metavars) or "none"


integer: Callable[[str], int] = Setting("", (int,)).read
integers: Callable[[str], tuple[int, ...]] = Setting("", (tuple[int, ...],)).read
number: Callable[[str], float] = Setting("", (float,)).read


def read_value(kind: Any, text: str) -> Any:
    """Convert a text of the command line to a value of type `kind`; raise ValueError if that fails.

    Args:
        kind: a class that converts a text, such as int; or bool, written as yes or true, no or false; or tuple[X, ...],
            whose items are written with commas, and no items as "none" or "()"; or a pair tuple[X, Y], written with a
            colon.  For tuple[tuple[int, float], ...], "7:0.15,9:0.25" becomes ((7, 0.15), (9, 0.25)).
    """
    if kind is bool:
        if text.lower() not in YES_OR_NO:
            raise ValueError(text)
        return YES_OR_NO[text.lower()]
    if get_origin(kind) is not tuple:
        return kind(text)
    first, second = get_args(kind)
    if second is Ellipsis:
        items = [] if text.lower() in ("", "none", "()") else text.split(",")
        return tuple(read_value(first, item) for item in items)
    left, colon, right = text.rpartition(":")
    if not colon:
        raise ValueError(text)
    return read_value(first, left), read_value(second, right)


def format_value(value: object) -> str:
    """Return the text that `read_value` converts to `value`, such as "7:0.25" for (7, 0.25).

    A tuple that is no pair is written with commas: "7:0.25,9:0.5" for ((7, 0.25), (9, 0.5)).
    """
    if not isinstance(value, tuple):
        return str(value)
    # ((7, 0.25), (9, 0.5)) has two items too, but they are pairs.
    is_pair = len(value) == 2 and not isinstance(value[1], tuple)
    if is_pair:
        return f"{value[0]}:{value[1]}"
    return ",".join(map(format_value, value))


def tuple_metavar(kind: object) -> str:
    """Return the help's notation for a tuple type: "TEXT,…" for texts, "A:B" for a pair, "A:B,…" for pairs."""
    first, second = get_args(kind)
    return f"{METAVARS.get(first, 'A:B')},…" if second is Ellipsis else "A:B"


def in_shell(text: str, flags: Mapping[str, str]) -> str:
    """Return a help text in the shell's words: flags for the names in backticks, none for None, no names of modules.

    Args:
        flags: the flag of each setting, by the setting's name.
    """
    text = re.sub(r"\s*\((?:see )?`alphago\.[\w.]+`\)|,? see `alphago\.[\w.]+`", "", text)
    return re.sub(r"\bNone\b", "none", re.sub(r"`(\w+)`", lambda name: flags.get(name[1], name[1]), text))


def shell_notation(value: str) -> str:
    """Convert a tuple in Python's notation, "((7, 0.25),)", to the notation of the command line, "7:0.25"."""
    return format_value(ast.literal_eval(value))


def keyword_settings(target: type) -> list[Setting]:
    """Return a Setting for each keyword of a class such as `GoEnv`, in order."""
    hints = get_type_hints(target.__init__)  # type: ignore[misc]
    settings = []
    for name, parameter in inspect.signature(target).parameters.items():
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            continue
        default_hint = bool if isinstance(parameter.default, bool) else int | float | str
        hint = hints.get(name, default_hint)  # a custom game's constructor may have no type hints
        settings.append(typed_setting(name, hint, parameter.default, keyword_help(target, name)))
    return settings


def typed_setting(name: str, hint: object, default: object, text: str) -> Setting:
    """Return the Setting of a keyword with the type `hint`; without types if no value can be written in a shell."""
    members = union_members(hint)
    literals = [member for member in members if get_origin(member) is Literal]
    choices = tuple(str(choice) for member in literals for choice in get_args(member))
    types = tuple(str if member in literals else member for member in members if fits_shell(member))
    return Setting(name, types, default, text, choices)


def fits_shell(kind: object) -> bool:
    """Return whether values of a type can be given on the command line, unlike functions and nested settings."""
    return kind in (*EXPECTED, NoneType) or get_origin(kind) in (Literal, tuple)


def keyword_help(target: type, name: str) -> str:
    """Return the help of a class's keyword: the text behind `name: ` in the class's docstring."""
    for match in PARAGRAPH.finditer(inspect.cleandoc(target.__doc__ or "")):
        if name in match["names"].split(", "):
            return " ".join(match["text"].split()).removesuffix(".")
    return ""


def option(parser: argparse._ActionsContainer, words: str, text: str, kind: Any = None, **more: Any) -> None:
    """Add an option or argument to `parser`, written as in its help: "games GAMES", "--port N", "--no-browser".

    Args:
        text: the help.
        kind: function that converts the text of the command line.
        more: as in `add_argument`.
    """
    name, _, metavar = words.partition(" ")
    if kind is not None:
        more["type"] = kind
    if metavar:
        more["metavar"] = metavar
    parser.add_argument(name, help=text, **more)


def add_setting(parser: argparse._ActionsContainer, flag: str, setting: Setting) -> argparse.Action:
    """Add one option to `parser`; the parsed options have the setting's name only if the option was given.

    Args:
        setting: its help text is already in the words of a shell, see `in_shell`.
    """
    text = setting.help.replace("%", "%%")  # argparse formats it with %
    common: dict[str, Any] = {"dest": setting.name, "default": argparse.SUPPRESS, "help": text}
    if bool in setting.types:
        return parser.add_argument(flag, action=argparse.BooleanOptionalAction, **common)
    if setting.choices:
        return parser.add_argument(flag, choices=setting.choices, **common)
    return parser.add_argument(flag, type=setting.read, metavar=setting.metavar, **common)


def given_options(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the options that were given on the command line, by name.

    Args:
        names: the options to consider; the default of each is None.
    """
    return {name: value for name in names if (value := getattr(options, name)) is not None}

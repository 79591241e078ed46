"""Options of the command line, made from the settings that they set: name, type, default and help stand in one place.

A settings dataclass, or a class with keywords such as `GoEnv`, says what each of them is in its docstring, as
`name: text` paragraphs; `add_settings` makes the flags, and `given_settings` reads them.

A value is written as in Python, but for tuples: a pair is A:B, several items have commas between them, or + where they
stand in a pair themselves (7:0.25,9:0.25 and 7:0.5+9:0.5:0.25).  The word none takes away what may be missing.
"""

import argparse
import ast
import contextlib
import inspect
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from alphago.system.validation import near_misses

PARAGRAPH = re.compile(r"^(?P<names>\w+(?:, \w+)*): (?P<text>.+(?:\n[ ]+.+)*)", re.MULTILINE)
REFERENCE = re.compile(r"\bsee (?P<kind>\w+Settings)\b")
TUPLES = re.compile(r"\({2,}[\d.,\s()]*\)")  # tuples in tuples, as docstrings have them
METAVARS = {int: "N", float: "X", str: "TEXT"}
WANTED = {int: "a whole number", float: "a number", str: "text"}


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence, and which knows what a mistyped flag was meant to be.

    The beginning of a flag stands for it where no other one begins so: `--board` for `--board-size`.
    """

    def __init__(self, **options: Any) -> None:
        width = max(60, min(120, shutil.get_terminal_size().columns - 2))
        super().__init__(
            **{
                "usage": f"{options.get('prog')} [OPTIONS]",
                "formatter_class": lambda prog: argparse.HelpFormatter(prog, max_help_position=30, width=width),
                **options,
            }
        )
        self.others: dict[str, str] = {}  # flags of other programs: what to say to who wants one here

    def parse_args(self, arguments: Sequence[str] | None = None, namespace: Any = None) -> argparse.Namespace:  # type: ignore[override]
        words = list(sys.argv[1:] if arguments is None else arguments)
        flags = [flag for flag in self._option_string_actions if flag.startswith("--")]
        for word in words[: words.index("--") if "--" in words else None]:
            flag = word.partition("=")[0]
            if not flag.startswith("--") or flag in flags:
                continue
            meant = [known for known in flags if known.startswith(flag)]
            if not meant:
                near = near_misses(flag, flags, otherwise=f"{self.prog} --help lists them all")
                self.error(f"no option {flag}: {self.others.get(flag, near)}")
            if len(meant) > 1:
                self.error(f"{flag} may be {', '.join(meant[:-1])} or {meant[-1]}")
        if any(action.nargs == "+" and not action.option_strings for action in self._actions):
            return super().parse_intermixed_args(words, namespace)  # its words may stand between options
        return super().parse_args(words, namespace)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


@dataclass(frozen=True)
class Setting:
    """One setting: its name, what reads its value from text, its default, and what the docstring says of it.

    kinds: types that it may have and that can be typed, the first that fits is taken; None stands among them as
        NoneType.
    choices: the texts that it is one of, where they are few.
    """

    name: str
    kinds: tuple[Any, ...]
    default: Any
    text: str
    choices: tuple[str, ...] = ()

    def read(self, text: str) -> Any:
        """The value that was written; ArgumentTypeError with what was wanted."""
        if NoneType in self.kinds and text.lower() == "none":
            return None
        kinds = [kind for kind in self.kinds if kind is not NoneType]
        for kind in sorted(kinds, key=lambda kind: kind is str):  # everything is a text
            with contextlib.suppress(ValueError):
                return read_value(kind, text)
        wanted = " or ".join(map(wanted_for, kinds)) or "none"
        raise argparse.ArgumentTypeError(f"{wanted} was wanted, got {text!r}")

    @property
    def told(self) -> str:
        """What help says: the text, with tuples as they are typed, and the default unless it is nothing."""
        text = TUPLES.sub(lambda found: spelled(ast.literal_eval(found[0])), self.text)
        nothing = self.default in (None, (), inspect.Parameter.empty)
        return text if nothing else f"{text} ({self.default})"

    @property
    def metavar(self) -> str:
        several = {kind: "A:B,…" if Ellipsis in get_args(kind) else "A:B" for kind in self.kinds}
        return "|".join(METAVARS.get(kind, several[kind]) for kind in self.kinds if kind is not NoneType) or "none"


class Switch(argparse.BooleanOptionalAction):
    """--name, --no-name, and `--name none` for a setting that is left to others then."""

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **options)
        self.nargs, self.const, self.metavar = "?", True, "none"
        self.type = Setting("", (NoneType,), None, "").read

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        setattr(namespace, self.dest, values if values is None else not option_string.startswith("--no-"))


def whole(text: str) -> int:
    """The whole number that was written; ArgumentTypeError with what was wanted."""
    return int(Setting("", (int,), None, "").read(text))


def number(text: str) -> float:
    """The number that was written; ArgumentTypeError with what was wanted."""
    return float(Setting("", (float,), None, "").read(text))


def read_value(kind: Any, text: str, separator: str = ",") -> Any:
    """The value of that type: '7:0.15,9:0.25' as ((7, 0.15), (9, 0.25)), 'none' and '()' as (); else ValueError.

    separator: stands between the items of a tuple of any length.
    """
    if get_origin(kind) in (Union, UnionType):
        for member in get_args(kind):
            with contextlib.suppress(ValueError):
                return read_value(member, text, separator)
        raise ValueError(text)
    if get_origin(kind) is not tuple:
        return kind(text)
    first, last = get_args(kind)
    if last is Ellipsis:
        items = [] if text.lower() in ("", "none", "()") else text.split(separator)
        return tuple(read_value(first, item) for item in items)
    left, colon, right = text.rpartition(":")
    if not colon:
        raise ValueError(text)
    return read_value(first, left, "+"), read_value(last, right)


def spelled(value: Any, separator: str = ",") -> str:
    """The text that `read_value` reads as the value."""
    if not isinstance(value, tuple):
        return str(value)
    if len(value) == 2 and not isinstance(value[1], tuple):
        return f"{spelled(value[0], '+')}:{value[1]}"
    return separator.join(map(spelled, value))


def wanted_for(kind: Any) -> str:
    """What an error calls the values of a type."""
    several = "pairs such as 7:0.15,9:0.25" if Ellipsis in get_args(kind) else "a pair such as 0:40"
    return WANTED.get(kind, several)


def settings_of(target: type) -> list[Setting]:
    """What a class can be told by keywords, in order."""
    hints = get_type_hints(target.__init__)  # type: ignore[misc]
    told = descriptions(target)
    found = []
    for name, parameter in list(inspect.signature(target).parameters.items()):
        hint = hints[name]
        members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        choices = tuple(
            str(choice) for member in members if get_origin(member) is Literal for choice in get_args(member)
        )
        kinds = tuple(str if get_origin(member) is Literal else member for member in members if is_typed(member))
        found.append(Setting(name, kinds, parameter.default, told.get(name, ""), choices))
    return found


def is_typed(kind: Any) -> bool:
    """Whether a command line can say a value of this type: no function, and nothing made of settings."""
    return kind in (*WANTED, bool, NoneType) or get_origin(kind) in (Literal, tuple)


def descriptions(target: type) -> dict[str, str]:
    """What the docstring of a class says of each keyword; where it says `see OtherSettings`, what that one says."""
    found = {}
    for match in PARAGRAPH.finditer(inspect.cleandoc(target.__doc__ or "")):
        text = " ".join(match["text"].split()).removesuffix(".")
        for name in match["names"].split(", "):
            resolve = partial(refer, target, name)
            found[name] = REFERENCE.sub(resolve, text)
    return found


def refer(target: type, name: str, reference: re.Match[str]) -> str:
    """What the settings class that is referred to, known where `target` is written, says of the keyword."""
    other = getattr(sys.modules[target.__module__], reference["kind"])
    return descriptions(other).get(name, reference[0])


def add_settings(
    parser: argparse._ActionsContainer,
    target: type,
    *,
    leave: Sequence[str] = (),
    flags: Mapping[str, str] | None = None,
    defaults: Mapping[str, Any] | None = None,
    prefix: str = "",
) -> None:
    """Adds an option for every setting of the class but those in `leave`.

    flags: names of flags that are not the setting's own, without dashes.  defaults: those that are not the class's
        own here, as help tells them.  prefix: of the names of all flags and parsed options.
    """
    for setting in settings_of(target):
        if setting.name not in leave:
            flag = "--" + (prefix + (flags or {}).get(setting.name, setting.name)).replace("_", "-")
            default = (defaults or {}).get(setting.name, setting.default)
            add_setting(parser, flag, replace(setting, name=prefix + setting.name, default=default))


def add_setting(parser: argparse._ActionsContainer, flag: str, setting: Setting) -> None:
    """Adds one option; without it the parsed options do not have the setting's name at all."""
    told = setting.told.replace("%", "%%")
    common: dict[str, Any] = {"dest": setting.name, "default": argparse.SUPPRESS, "help": told}
    if bool in setting.kinds:
        action = Switch if NoneType in setting.kinds else argparse.BooleanOptionalAction
        parser.add_argument(flag, action=action, **common)
    elif setting.choices:
        parser.add_argument(flag, choices=setting.choices, **common)
    else:
        parser.add_argument(flag, type=setting.read, metavar=setting.metavar, **common)


def given_settings(options: argparse.Namespace, target: type, prefix: str = "") -> dict[str, Any]:
    """The settings of the class that were given, as keywords; `prefix` as in `add_settings`."""
    given = vars(options)
    names = [setting.name for setting in settings_of(target)]
    return {name: given[prefix + name] for name in names if prefix + name in given}

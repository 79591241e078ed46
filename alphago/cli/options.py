"""Options of the command line, made from the settings that they set: name, type, default and help stand in one place.

A settings dataclass, or a class with keywords such as `GoEnv`, says what each of them is in its docstring, as
`name: text` paragraphs; `add_settings` makes the flags, and `given_settings` reads them.
"""

import argparse
import inspect
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from alphago.settings import near_misses

PARAGRAPH = re.compile(r"^(?P<names>\w+(?:, \w+)*): (?P<text>.+(?:\n[ ]+.+)*)", re.MULTILINE)
REFERENCE = re.compile(r"\bsee (?P<kind>\w+Settings)\b")
METAVARS = {int: "N", float: "X", str: "TEXT"}
WANTED = {int: "a whole number", float: "a number", str: "text"}


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence, and which knows what a mistyped flag was meant to be."""

    def __init__(self, **options: Any) -> None:
        width = max(60, min(120, shutil.get_terminal_size().columns - 2))
        super().__init__(
            **{
                "usage": f"{options.get('prog')} [OPTIONS]",
                "allow_abbrev": False,
                "formatter_class": lambda prog: argparse.HelpFormatter(prog, max_help_position=30, width=width),
                **options,
            }
        )

    def parse_args(self, arguments: Sequence[str] | None = None, namespace: Any = None) -> argparse.Namespace:  # type: ignore[override]
        words = list(sys.argv[1:] if arguments is None else arguments)
        flags = [flag for flag in self._option_string_actions if flag.startswith("--")]
        for word in words[: words.index("--") if "--" in words else None]:
            flag = word.partition("=")[0]
            if flag.startswith("--") and flag not in flags:
                self.error(f"no option {flag}: {near_misses(flag, flags, told=f'{self.prog} --help lists them all')}")
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
        for kind in kinds:
            reader: Callable[[str], Any] = read_pairs if get_origin(kind) is tuple else kind
            try:
                return reader(text)
            except ValueError:
                continue
        wanted = " or ".join(WANTED.get(kind, "pairs such as 7:0.15,9:0.25") for kind in kinds)
        raise argparse.ArgumentTypeError(f"{wanted} was wanted, came {text!r}")

    @property
    def told(self) -> str:
        """What help says: the text, and the default unless it is nothing."""
        nothing = self.default in (None, (), inspect.Parameter.empty)
        return self.text if nothing else f"{self.text} ({self.default})"

    @property
    def metavar(self) -> str:
        return METAVARS.get(next(kind for kind in self.kinds if kind is not NoneType), "A:B,…")


def whole(text: str) -> int:
    """The whole number that was written; ArgumentTypeError with what was wanted."""
    return int(Setting("", (int,), None, "").read(text))


def number(text: str) -> float:
    """The number that was written; ArgumentTypeError with what was wanted."""
    return float(Setting("", (float,), None, "").read(text))


def read_pairs(text: str) -> tuple[tuple[int, float], ...]:
    """'7:0.15,9:0.25' as ((7, 0.15), (9, 0.25)), '' as ()."""
    pairs = [pair.split(":") for pair in text.split(",") if pair]
    return tuple((int(first), float(second)) for first, second in pairs)


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
) -> None:
    """Adds an option for every setting of the class but those in `leave`.

    flags: names of flags that are not the setting's own, without dashes.  defaults: those that are not the class's
        own here, as help tells them.
    """
    for setting in settings_of(target):
        if setting.name not in leave:
            flag = "--" + (flags or {}).get(setting.name, setting.name).replace("_", "-")
            default = (defaults or {}).get(setting.name, setting.default)
            add_setting(parser, flag, replace(setting, default=default))


def add_setting(parser: argparse._ActionsContainer, flag: str, setting: Setting) -> None:
    """Adds one option; without it the parsed options do not have the setting's name at all."""
    told = setting.told.replace("%", "%%")
    common: dict[str, Any] = {"dest": setting.name, "default": argparse.SUPPRESS, "help": told}
    if bool in setting.kinds:
        parser.add_argument(flag, action=argparse.BooleanOptionalAction, **common)
    elif setting.choices:
        parser.add_argument(flag, choices=setting.choices, **common)
    else:
        parser.add_argument(flag, type=setting.read, metavar=setting.metavar, **common)


def given_settings(options: argparse.Namespace, target: type) -> dict[str, Any]:
    """The settings of the class that were given, as keywords."""
    given = vars(options)
    return {setting.name: given[setting.name] for setting in settings_of(target) if setting.name in given}

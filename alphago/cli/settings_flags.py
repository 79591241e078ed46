"""Flags of settings: one for each keyword of a settings class, and --set for settings that have a path only.

If some settings of a class have a short help (`shown`), `--help` shows only these, and `--help-all` shows all.
"""

import argparse
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import NoneType
from typing import Any, get_type_hints

from alphago.cli.options import Parser, Setting, add_setting, in_shell, option, typed_setting
from alphago.system.settings import Address, addresses, keywords
from alphago.system.validation import near_misses

# Flags of settings that have a longer name in Python.
SHORT = {"num_games": "games", "max_minutes": "minutes", "max_processor_minutes": "processor-minutes"}
BY_PATH = "by_path"  # where the parsed options have what --set gave: paths and values


def add_flags(parser: Parser, root: type, title: str, *, defaults: Mapping[str, Any] = {}) -> None:
    """Add a flag to `parser` for each setting of the class `root` that a shell can write, and --set for the others.

    Args:
        title: the heading of the settings that belong to no part.
        defaults: values, by keyword, that the help shows instead of the settings' own.
    """
    known = addresses(root)  # by path, the Address of each setting: its keyword, its class and its field in the class
    by_keyword = {address.keyword: address for address in known.values() if address.keyword}
    by_path = [path for path, address in known.items() if not address.keyword]
    flags = {keyword: "--" + SHORT.get(keyword, keyword).replace("_", "-") for keyword in by_keyword}
    # Whether --help shows only the settings that have a short help ("shown"), since the class has many settings.
    is_shortened = any(address.field.metadata["shown"] for address in known.values())
    for keyword, address in by_keyword.items():
        setting = to_setting(address)
        if not (setting.types or setting.choices):  # no value can be written in a shell
            continue
        # A help text names settings by their keywords, and settings of its own class also by their fields' names.
        siblings = [sibling for sibling in by_keyword.values() if sibling.owner is address.owner]
        names = flags | {sibling.field.name: flags[sibling.keyword] for sibling in siblings}
        setting = replace(setting, default=defaults.get(keyword, setting.default), text=in_shell(setting.text, names))
        add_setting(parser.section(address.title or title), flags[keyword], setting)
        if is_shortened:
            parser.set_brief_help(flags[keyword], brief(setting, address))
    if by_path:
        text = f"another setting, by its path: {', '.join(by_path)}"
        option(parser, "--set PATH=VALUE", text, partial(read_by_path, root), action="append", default=[], dest=BY_PATH)
        example = next((path for path in by_path if path.startswith("search.")), by_path[0])
        parser.set_brief_help("--set", f"any setting by its path, as {example}")


def read_by_path(root: type, text: str) -> tuple[str, Any]:
    """Return the path and the value in PATH=VALUE, the value converted to the type of that setting of `root`.

    Raises:
        ArgumentTypeError: for an unknown path and for an invalid value.
    """
    path, equals, value = text.partition("=")
    known = addresses(root)
    if path not in known:
        near = near_misses(path, list(known), "--help-all lists them")
        raise argparse.ArgumentTypeError(f"has no setting {path}: {near}")
    if not equals:
        raise argparse.ArgumentTypeError(f"must be PATH=VALUE, got {text}")
    setting = to_setting(known[path])
    try:
        return path, setting.read(value) if setting.types else value  # without types: a part's name, checked later
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{path} {error}") from None


def given_settings(options: argparse.Namespace, root: type) -> dict[str, Any]:
    """Return the settings of the class `root` that were given on the command line, by keyword or by path."""
    known = keywords(root)
    given = {name: value for name, value in vars(options).items() if name in known}
    return given | dict(getattr(options, BY_PATH, []))


def to_setting(address: Address) -> Setting:
    """Return the flag's Setting for the setting with an address.

    It has neither types nor choices, and gets no flag, if a part has a single choice, or if the setting's values cannot
    be written on a command line (`typed_setting` gives no types then).
    """
    field, default, part = address.field, address.default, address.part  # part: None for a plain value
    if part is not None and not part.optional:
        choices = part.choices if len(part.choices) > 1 else {}
        # The choices are objects or classes.  The default is one of the objects, or an object of one of the classes.
        default_name = next((name for name, choice in choices.items() if choice in (default, type(default))), None)
        return Setting(address.keyword, (), default_name, field.metadata["help"], choices=tuple(choices))
    hint = get_type_hints(address.owner)[field.name]
    setting = typed_setting(address.keyword, hint, default, field.metadata["help"])
    # The word none sets a setting back to a default of None, and takes a part off.  A part is optional here, since the
    # setting of a required part was returned above.
    if field.default is None or part is not None:
        setting = replace(setting, types=(*setting.types, NoneType))
    if address.kind_names:  # a setting of some kinds of parts only: the help names the kinds
        setting = replace(setting, text=f"{setting.text} [{', '.join(address.kind_names)}]")
    return setting


def brief(setting: Setting, address: Address) -> str:
    """Return a setting's help in a few words, with the default if there is one; "" if --help does not show it."""
    text = address.field.metadata["shown"]  # the short help, "" if there is none
    if not text:
        return ""
    if setting.choices:
        text = f"{text}: {', '.join(setting.choices)}"
    return replace(setting, text=text).help.replace("%", "%%")  # argparse formats it with %

"""Flags of settings in parts: a flag for each keyword of a SettingsTree, under the headings of its parts.

`--help` shows the flags that most people set, `--help-all` shows all flags.
"""

import argparse
from collections.abc import Collection, Mapping
from dataclasses import Field, fields, replace
from types import NoneType
from typing import Any, get_type_hints

from alphago.cli.options import Parser, Setting, add_setting, in_shell, typed_setting
from alphago.system.settings_tree import SettingEntry, SettingsTree

SHORT = {"num_games": "games", "max_minutes": "minutes"}  # flags of settings that have a longer name in Python
# Texts for the defaults of self-play's search that depend on other settings.
SELF_PLAY_DEFAULTS = {
    "search": "gumbel",
    "considered": "half of the readouts, 2 to 16",
    "leaves": "as many as fill a batch",
}


def add_tree(
    parser: Parser,
    tree: SettingsTree[Any],
    title: str,
    *,
    flags: Mapping[str, str] = SHORT,
    leave: Collection[str] = (),
    defaults: Mapping[str, Any] | None = None,
    notes: Mapping[str, str] | None = None,
) -> None:
    """Add a flag to `parser` for each setting of `tree` that can be typed.

    title: the heading of the settings that belong to no part.
    flags: the flags' names, by keyword, where they differ from the keywords.
    leave: keywords to leave out.
    defaults: values, by keyword, that the help shows instead of the tree's.
    notes: sentences below headings, by heading.
    """
    groups: dict[str, argparse._ArgumentGroup] = {}
    entries = tree.entries
    for entry in entries.values():
        setting = setting_of(entry)
        if entry.keyword in leave or not (setting.types or setting.choices):
            continue
        heading = entry.title or title
        if heading not in groups:
            groups[heading] = parser.add_argument_group(heading, (notes or {}).get(heading))
        default = (defaults or {}).get(entry.keyword, setting.default)
        # A help text names settings by their keywords, and settings of its own class also by their fields' names.
        names = {keyword: flag_of(keyword, flags) for keyword in entries}
        siblings = [sibling for sibling in entries.values() if sibling.owner is entry.owner]
        names |= {sibling.field.name: flag_of(sibling.keyword, flags) for sibling in siblings}
        setting = replace(setting, default=default, text=in_shell(setting.text, names))
        flag = flag_of(entry.keyword, flags)
        add_setting(groups[heading], flag, setting)
        parser.shorten(flag, brief(setting, entry))


def given_keywords(options: argparse.Namespace, tree: SettingsTree[Any]) -> dict[str, Any]:
    """Return the keywords of `tree` that were given on the command line."""
    keywords = tree.keywords
    return {name: value for name, value in vars(options).items() if name in keywords}


def flag_of(keyword: str, flags: Mapping[str, str]) -> str:
    """Return the flag of a keyword; `flags` as in `add_tree`."""
    return "--" + flags.get(keyword, keyword).replace("_", "-")


def setting_of(entry: SettingEntry) -> Setting:
    """Convert a setting of a SettingsTree to a Setting of the command line.

    The result has neither types nor choices if the setting's values cannot be written on a command line.
    """
    if entry.slot is not None:
        return part_setting(entry)
    field = entry.field
    if "parts" in field.metadata:  # a list of parts, which can be given in Python only
        return Setting(entry.keyword, ())
    hint = get_type_hints(entry.owner)[field.name]
    setting = typed_setting(entry.keyword, hint, entry.default, field.metadata["help"])
    if field.metadata["automatic"]:
        setting = replace(setting, types=(*setting.types, NoneType))
    if entry.kinds:  # a setting of some kinds of parts only: the help names the kinds
        setting = replace(setting, text=f"{setting.text} [{', '.join(entry.kinds)}]")
    return setting


def part_setting(entry: SettingEntry) -> Setting:
    """Return the Setting of a part's keyword.

    Where values of the part's first setting stand for the part, as a number does for Gate, the Setting has the values
    of the first setting.  Otherwise it has the names of the parts, if there are several.
    """
    slot = entry.slot
    assert slot is not None
    text = declaration(entry).metadata["help"]
    names = tuple(slot.named) if len(slot.named) > 1 else ()
    # A name stands for an object, or for a class.
    default = next((name for name in names if slot.named[name] in (slot.default, type(slot.default))), None)
    if not slot.first:
        return Setting(entry.keyword, (), default, text, choices=names)
    first_hint = get_type_hints(slot.default_class)[fields(slot.default_class)[0].name]
    types = typed_setting("", first_hint, default=None, text="").types
    return Setting(entry.keyword, (*types, NoneType), default, text)


def brief(setting: Setting, entry: SettingEntry) -> str:
    """Return a setting's help in a few words, with the default if there is one; "" if --help does not show it."""
    text = declaration(entry).metadata["shown"]
    if not text:
        return ""
    if setting.choices:
        text = f"{text}: {', '.join(setting.choices)}"
    with_default = replace(setting, text=text).help
    return with_default.replace("%", "%%")  # argparse formats it with %


def declaration(entry: SettingEntry) -> Field[Any]:
    """Return the field whose metadata has an entry's help.

    Where values of a part's first setting stand for the part, this is the field of the first setting.  Otherwise it is
    the entry's own field.
    """
    slot = entry.slot
    return fields(slot.default_class)[0] if slot is not None and slot.first else entry.field

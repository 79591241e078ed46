"""Flags of settings in parts: one for each keyword of a SettingsTree, under the headings of its parts.

`--help` shows those that most people set, `--help-all` all of them.
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
        # The help names settings by their keywords, and those of its own class by their fields' names there.
        keywords = {keyword: keyword for keyword in entries}
        keywords |= {one.field.name: one.keyword for one in entries.values() if one.owner is entry.owner}
        text = in_shell(setting.text, {name: flag_of(keyword, flags) for name, keyword in keywords.items()})
        setting = replace(setting, default=default, text=text)
        add_setting(groups[heading], flag_of(entry.keyword, flags), setting)
        parser.shorten(flag_of(entry.keyword, flags), brief(setting, entry))


def given_keywords(options: argparse.Namespace, tree: SettingsTree[Any]) -> dict[str, Any]:
    """Return the keywords of `tree` that were given on the command line."""
    keywords = tree.keywords
    return {name: value for name, value in vars(options).items() if name in keywords}


def flag_of(keyword: str, flags: Mapping[str, str]) -> str:
    """Return the flag of a keyword; `flags` as in `add_tree`."""
    return "--" + flags.get(keyword, keyword).replace("_", "-")


def setting_of(entry: SettingEntry) -> Setting:
    """Return a setting of a SettingsTree as one of the command line.

    It has neither types nor choices if it cannot be written there.
    """
    text = declaration(entry).metadata["help"]
    if entry.slot is not None:  # the keyword of a part
        return part_setting(entry, text)
    if "parts" in entry.field.metadata:  # a list of parts, for Python only
        return Setting(entry.keyword, ())
    setting = typed_setting(entry.keyword, get_type_hints(entry.owner)[entry.field.name], entry.default, text)
    if entry.field.metadata["automatic"]:
        setting = replace(setting, types=(*setting.types, NoneType))
    if entry.kinds:  # only some of the parts that may stand there have it
        setting = replace(setting, text=f"{text} [{', '.join(entry.kinds)}]")
    return setting


def part_setting(entry: SettingEntry, text: str) -> Setting:
    """Return the Setting of a part's keyword, with the help `text`.

    Its values are those of the part's first setting, if they stand for the part, or else the names of parts, where
    there are several.
    """
    slot = entry.slot
    assert slot is not None
    names = tuple(slot.named) if len(slot.named) > 1 else ()
    defaults = (slot.default, type(slot.default))  # a name stands for an object, or for a class
    default = next((name for name in names if slot.named[name] in defaults), None)
    if not slot.first:
        return Setting(entry.keyword, (), default, text, choices=names)
    first = fields(slot.default_class)[0].name
    types = (*typed_setting("", get_type_hints(slot.default_class)[first], None, "").types, NoneType)
    return Setting(entry.keyword, types, default, text)


def brief(setting: Setting, entry: SettingEntry) -> str:
    """Return a setting's help in a few words, with the default if there is one; "" if --help does not show it."""
    text = declaration(entry).metadata["shown"]
    names = ", ".join(setting.choices)
    return replace(setting, text=f"{text}: {names}" if names else text).help.replace("%", "%%") if text else ""


def declaration(entry: SettingEntry) -> Field[Any]:
    """Return the declaration that has an entry's help: that of a part's first setting, if its values stand for it."""
    return entry.field if entry.slot is None or not entry.slot.first else fields(entry.slot.default_class)[0]

"""Flags of settings in parts: one for each keyword of a SettingsTree, under the headings of its parts.

`--help` shows those that most people set, `--help-all` all of them.
"""

import argparse
import re
from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from types import NoneType
from typing import Any, get_type_hints

from alphago.cli.options import Parser, Setting, add_setting, typed_setting
from alphago.system.settings_tree import Entry, SettingsTree

NAME = re.compile(r"`(\w+)`")  # a setting's name in a help text
BRIEF = re.compile(r"; |\.  | \(|: ")  # where a help text stops in --help


def add_tree(
    parser: Parser,
    tree: SettingsTree[Any],
    title: str,
    *,
    flags: Mapping[str, str],
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
    for entry in tree.entries.values():
        setting = setting_of(entry)
        if entry.keyword in leave or not (setting.types or setting.choices):
            continue
        heading = entry.title or title
        if heading not in groups:
            groups[heading] = parser.add_part(heading, (notes or {}).get(heading, ""))
        default = (defaults or {}).get(entry.keyword, setting.default)
        setting = replace(setting, default=default, text=in_shell(setting.text, tree, flags))
        action = add_setting(groups[heading], flag_of(entry.keyword, flags), setting)
        parser.shorten(action, brief(setting) if entry.field.metadata["shown"] else "")


def given_keywords(options: argparse.Namespace, tree: SettingsTree[Any]) -> dict[str, Any]:
    """Return the keywords of `tree` that were given on the command line."""
    return {name: value for name, value in vars(options).items() if name in tree.entries}


def flag_of(keyword: str, flags: Mapping[str, str]) -> str:
    """Return the flag of a keyword; `flags` as in `add_tree`."""
    return "--" + flags.get(keyword, keyword).replace("_", "-")


def setting_of(entry: Entry) -> Setting:
    """Return an entry of a tree as a Setting; it has no types and choices if it cannot be typed."""
    text = entry.field.metadata["help"]
    if entry.slot is not None:
        return part_setting(entry, text)
    if "parts" in entry.field.metadata:
        return Setting(entry.keyword, ())
    setting = typed_setting(entry.keyword, get_type_hints(entry.owner)[entry.field.name], entry.default, text)
    if entry.field.metadata["automatic"] and bool not in setting.types:
        setting = replace(setting, types=(*setting.types, NoneType))
    if entry.kinds:
        setting = replace(setting, text=f"{text} [{', '.join(entry.kinds)}]")
    return setting


def part_setting(entry: Entry, text: str) -> Setting:
    """Return the Setting of a part's keyword: its names, or its first setting's values, or none."""
    slot = entry.slot
    assert slot is not None
    kind = slot.usual
    types: tuple[Any, ...] = ()
    if slot.first:
        one = fields(kind)[0]
        types = typed_setting("", get_type_hints(kind)[one.name], None, "").types
        text = text if "part" in entry.field.metadata else one.metadata["help"]
    names = tuple(slot.named) if len(slot.named) > 1 else ()
    if slot.optional:
        types, names = ((*types, NoneType), names) if types else ((), (*names, "none"))
    default = next(
        (name for name, made in slot.named.items() if names and made in (slot.default, type(slot.default))), None
    )
    return Setting(entry.keyword, types, default, text, names if not types else ())


def in_shell(text: str, tree: SettingsTree[Any], flags: Mapping[str, str]) -> str:
    """Return a help text in the shell's words: flags for the names of settings, none for None."""
    text = NAME.sub(lambda name: flag_of(name[1], flags) if name[1] in tree.entries else name[1], text)
    return re.sub(r"\bNone\b", "none", text)


def brief(setting: Setting) -> str:
    """Return the beginning of a setting's help, with the default if there is one."""
    text = BRIEF.split(setting.help.replace("%", "%%"), maxsplit=1)[0]
    whole = replace(setting, text="").help
    return f"{text}{whole if whole.startswith(' (') else ''}"

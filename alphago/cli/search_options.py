"""The options of a search: `--search` chooses the rule, and every rule's settings have options."""

import argparse
from dataclasses import replace
from typing import Any

from alphago.cli.options import Setting, add_setting, given_settings, settings_of
from alphago.mcts.search_forms import RULE, SEARCHES, SELF_PLAY

NO_RULE = "none"  # the value of --search that removes a run's own search
# Texts for the defaults of self-play's search that depend on other settings.
SELF_PLAY_DEFAULTS = {"considered": "half of the readouts, 2 to 16", "leaves": "as many as fill a batch"}


def add_rule(parser: argparse._ActionsContainer, rule: str, text: str, none: bool = False) -> None:
    """Add `--search`, which chooses a rule; the parsed options have it only if it was given.

    rule: the rule without this option.  text: the help.  none: whether "none" is a choice too.
    """
    choices = [*SEARCHES, *([NO_RULE] if none else [])]
    parser.add_argument("--search", choices=choices, default=argparse.SUPPRESS, help=f"{text} ({rule})")


def add_search(parser: argparse._ActionsContainer, rule: str, none: bool = False) -> None:
    """Add `--search`, and an option for every setting of every rule.

    rule, none: as in `add_rule`.
    """
    add_rule(parser, rule, "the rule of the search; further settings of it are below, after its name", none)
    texts = SELF_PLAY_DEFAULTS if rule == SELF_PLAY else {}
    owners: dict[str, list[tuple[str, Setting]]] = {}
    for name, kind in SEARCHES.items():
        for setting in settings_of(kind):
            default = texts.get(setting.name, setting.default)
            owners.setdefault(setting.name, []).append((name, replace(setting, default=default)))
    for owned in owners.values():
        setting = owned[0][1]
        if len(owned) < len(SEARCHES):
            text = "; ".join(f"{name}: {own.help}" for name, own in owned)
            setting = replace(setting, text=text, default=None)
        add_setting(parser, f"--{setting.name.replace('_', '-')}", setting)


def given_search(options: argparse.Namespace) -> dict[str, Any]:
    """Return the keyword `search` with what was given on the command line; {} if nothing was.

    Raises ValueError if --search removes the search and another option changes it.
    """
    given: dict[str, Any] = {}
    for kind in SEARCHES.values():
        given |= given_settings(options, kind)
    rule = getattr(options, "search", None)
    if rule == NO_RULE:
        if given:
            raise ValueError(f"--search none removes the search's settings, got {next(iter(given))} too")
        return {"search": None}
    given |= {} if rule is None else {RULE: rule}
    return {"search": given} if given else {}

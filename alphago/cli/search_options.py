"""The options of a player's search: `--search` chooses the rule, and every rule's settings have options."""

import argparse

from alphago.cli.options import Parser, option
from alphago.cli.settings_flags import add_tree, given_keywords
from alphago.mcts.search_forms import PLAYER_RULE, SEARCHES, SearchForm
from alphago.system.settings_tree import SettingsTree, part
from alphago.system.validation import settings


@settings
class PlayerSettings:
    """The settings of a player that searches."""

    search: SearchForm = part(
        "the rule of the search",
        default=None,
        title="the search",
        kind=SEARCHES[PLAYER_RULE],
        form=True,
        shown="the rule of the search",
    )


PLAYER = SettingsTree(PlayerSettings, {"search": SEARCHES})


def add_rule(parser: argparse._ActionsContainer, text: str) -> None:
    """Add `--search`, which chooses a rule; the parsed options have `search` only if it was given.  text: the help."""
    option(parser, "--search", f"{text} ({PLAYER_RULE})", choices=list(SEARCHES), default=argparse.SUPPRESS)


def add_search(parser: Parser) -> None:
    """Add `--search`, and an option for every setting of every rule."""
    add_tree(parser, PLAYER, "", defaults={"search": PLAYER_RULE})


def given_search(options: argparse.Namespace) -> SearchForm:
    """Return the search that the command line gives; None if it gives none.

    Raises UnusedSetting for a setting that the rule does not have.
    """
    return PLAYER.make(given_keywords(options, PLAYER)).search

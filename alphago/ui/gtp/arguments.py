"""The arguments of GTP commands: GtpFailure with the protocol's words for those that are none."""

import re

from alphago.env.go_rules import check_player
from alphago.ui.gtp.protocol import GtpFailure


def argument(arguments: list[str], i: int) -> str:
    """Argument i; those beyond what a command wants are ignored, as in GNU Go."""
    if i >= len(arguments):
        raise GtpFailure("syntax error")
    return arguments[i]


def whole(text: str) -> int:
    if not re.fullmatch("[+-]?[0-9]{1,9}", text):
        raise GtpFailure("syntax error")
    return int(text)


def number(text: str) -> float:
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", text):
        raise GtpFailure("syntax error")
    return float(text)


def player(text: str) -> int:
    """+1 for b or black, -1 for w or white, in any case."""
    try:
        return check_player(text)
    except ValueError:
        raise GtpFailure("invalid color or coordinate") from None

"""The arguments of `lz-analyze`, `kata-analyze` and their `genmove` forms.

They are `[player] [interval] key value …`, with the interval in hundredths of a second (KataGo's
docs/GTP_Extensions.md).
"""

import contextlib
from dataclasses import dataclass, field
from typing import Any

from alphago.env.go import GoEnv
from alphago.mcts.analysis_search import Forbidden
from alphago.ui.gtp.protocol import GtpFailure, check_colour, integer, number

FLAGS = (
    *("ownership", "ownershipStdev", "movesOwnership", "movesOwnershipStdev"),
    *("pvVisits", "pvEdgeVisits", "rootInfo"),
)
KEYS = ("interval", "minmoves", "maxmoves", "avoid", "allow")
SHORTEST_INTERVAL = 0.01  # seconds between two reports
NEVER = 999_999.0  # default interval between two reports, in hundredths of a second


@dataclass
class AnalysisRequest:
    """A controller's request for reports on a search.

    colour: the player to move, +1 Black, -1 White; None for the player whose turn it is.
    interval: seconds between two reports.
    minmoves, maxmoves: bounds on the number of moves in a report.
    forbidden: moves that the search must not try.
    flags: which of FLAGS are true.
    kata: whether reports have KataGo's format; if not, they have Leela Zero's.
    """

    colour: int | None = None
    interval: float = NEVER / 100
    minmoves: int = 0
    maxmoves: int | None = None
    forbidden: list[Forbidden] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    kata: bool = True

    @property
    def options(self) -> dict[str, Any]:
        """What an analyst has to know of the request, see `Analyst.ask`."""
        move_ownership = bool({"movesOwnership", "movesOwnershipStdev"} & self.flags)
        return {
            "every": max(self.interval, SHORTEST_INTERVAL),
            "move_ownership": move_ownership,
            "avoid": self.forbidden,
        }


def read_request(arguments: list[str], env: GoEnv, kata: bool) -> AnalysisRequest:
    """Return the arguments as a request; raise GtpFailure for unknown keys and invalid values.

    kata: whether the command is one of KataGo's, which has the keys FLAGS.
    """
    request, words = AnalysisRequest(kata=kata), list(arguments)
    while words and words[0] not in KEYS and words[0] not in FLAGS:
        word = words.pop(0)
        colour = colour_of(word)
        if colour is not None and request.colour is None:
            request.colour = colour
        elif word[0] in "+.0123456789":  # a number without its key is the interval
            request.interval = seconds(word)
        else:
            raise GtpFailure(f"unknown key {word}")
    allowed: list[int] = []  # the players with `allow`
    while words:
        key = words.pop(0)
        if key in ("avoid", "allow"):
            request.forbidden.append(forbidden(key, words[:3], env))
            allowed += [request.forbidden[-1].player] if key == "allow" else []
            words = words[3:]
        elif key in KEYS or (kata and key in FLAGS):
            if not words:
                raise GtpFailure(f"{key} needs a value")
            set_value(request, key, words.pop(0))
        else:
            raise GtpFailure(f"unknown key {key}")
    players = [rule.player for rule in request.forbidden]
    if any(players.count(player) > 1 for player in allowed):
        raise GtpFailure("allow must be given once for a player, and without avoid")
    return request


def set_value(request: AnalysisRequest, key: str, value: str) -> None:
    """Set a key of a request, one of KEYS or FLAGS, to its value, given as text.

    Raises GtpFailure for an invalid value.
    """
    if key == "interval":
        request.interval = seconds(value)
    elif key in ("minmoves", "maxmoves"):
        if integer(value) < 0:
            raise GtpFailure(f"{key} must be an integer >= 0, got {value}")
        setattr(request, key, integer(value))
    elif value.lower() == "true":
        request.flags.add(key)
    elif value.lower() == "false":
        request.flags.discard(key)
    else:
        raise GtpFailure(f"{key} must be true or false, got {value}")


def seconds(text: str) -> float:
    """Return an interval in seconds; text: the interval in hundredths of a second."""
    value = number(text)
    if value < 0:
        raise GtpFailure(f"interval must be at least 0, got {text}")
    return value / 100


def colour_of(word: str) -> int | None:
    """Return the player that a word names (+1, -1); None for any other word."""
    with contextlib.suppress(GtpFailure):
        return check_colour(word)
    return None


def forbidden(key: str, words: list[str], env: GoEnv) -> Forbidden:
    """Return the moves that a key forbids: "avoid", or "allow", which forbids all other moves.

    words: what follows the key: a player, vertices and a depth.
    """
    if len(words) < 3:
        raise GtpFailure(f"{key} needs a player, vertices and a depth")
    player, vertices, depth = check_colour(words[0]), words[1], integer(words[2])
    try:
        actions = frozenset(env.from_text(vertex) for vertex in vertices.split(",") if vertex)
    except ValueError:
        raise GtpFailure(f"{key} needs vertices such as D4,Q16, got {vertices}") from None
    if depth < 1:
        raise GtpFailure(f"{key} needs a depth >= 1, got {words[2]}")
    if key == "allow":
        actions = frozenset(range(env.action_space)) - actions
    return Forbidden(player, actions, depth)

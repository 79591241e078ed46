"""The options of a game of Go and their valid values: ko, suicide, komi, handicap, planes, and names of rule sets."""

import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from alphago.env.kernels import go_katago, go_planes
from alphago.env.kernels import go_row as layout
from alphago.system.validation import check_int, is_finite, is_int, shown

MIN_SIZE, MAX_SIZE = 2, 25
USUAL_SPREAD = 1.0  # points by which the komi varies in self-play unless a game has another spread
MOST_KOMI = 1000  # more points than any board has
HANDICAP_KOMI = 0.5  # of a game with handicap stones
KO_RULES = {"simple": layout.SIMPLE, "positional": layout.POSITIONAL, "situational": layout.SITUATIONAL}
ENDLESS = 65_536  # `max_moves` of a game without a limit: memory needs some limit
KATAGO = "katago"  # the planes of KataGo's networks, see `alphago.env.kernels.go_katago`
# Of each set of planes that has a name: how many planes it has, and of how many boards of the game.
PLANE_SETS = {name: (len(planes), 1) for name, planes in go_planes.SETS.items()}
PLANE_SETS[KATAGO] = go_katago.PLANES, go_katago.DEPTH

Stones = str | Iterable[str | int]


class Rules(NamedTuple):
    """The rules of ko and suicide.

    Attributes:
        ko: "simple": no move restores the board before the other side's last move; "positional": no board occurs twice;
            "situational": no board occurs twice with the same side to move, also after a pass.
        suicide: whether a move may remove several own stones.  A single stone may never commit suicide, since the board
            would not change.
    """

    ko: str = "positional"
    suicide: bool = False


# Names as in SGF's RU and GTP's kgs-rules. Of the rules in TERRITORY only ko and suicide are known here: games are not
# scored as they say, see `why_other_score`.
NAMED = {
    "Chinese": Rules("positional", False),
    "Tromp-Taylor": Rules("positional", True),
    "AGA": Rules("situational", False),
    "NZ": Rules("situational", True),
    "GOE": Rules("positional", True),
    "Japanese": Rules("simple", False),
    "Korean": Rules("simple", False),
}
TERRITORY = ("Japanese", "Korean")
ALIASES = {"newzealand": "nz", "ing": "goe", "tt": "tromptaylor", "bga": "aga"}
ALIASES |= dict.fromkeys(("chineseogs", "chinesekgs"), "chinese")
# Short names of rules by which KataGo gives White points for handicap stones.
WITH_BONUS = ("chinese", "aga", "agabutton")
# What people are told if they choose such rules.
NO_BONUS = "rules give White no bonus for handicap stones here, which komi can do"
# For each name of rules that is a country's, the spellings in files and programs from China, Japan and Korea.
COUNTRIES = {"Chinese": "中国|中國|중국", "Japanese": "日本|일본", "Korean": "韩国|韓國|韓国|한국"}
# The fields of rules in KataGo's JSON.
JSON_FIELDS = ("ko", "scoring", "score", "tax", "suicide", "hasButton", "whiteHandicapBonus", "friendlyPassOk")
# KataGo's long names, such as koSIMPLEscoreAREAtaxNONEsui0button1. Further parts, such as fpok1, are ignored.
LONG_NAME = re.compile(
    r"""ko (?P<ko> SIMPLE | POSITIONAL | SITUATIONAL)
    scoreAREA
    (?:tax (?P<tax> \w+?))?
    sui (?P<suicide> [01])
    (?:button (?P<button> [01]))?
    (?:whiteHandicapBonus (?P<bonus> N-1 | N | 0))?
    \w*""",
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)


def read_rules(text: str) -> Rules | None:
    """Return the rules called `text` in any spelling ("new_zealand", "NZ"); None for an unknown name.

    KataGo's long names (koSIMPLEscoreAREAtaxNONEsui0) and its JSON ({"ko": "SIMPLE", …}) are also read.  Only `ko` and
    `suicide` are taken from them.  JSON with a field that KataGo does not have counts as an unknown name.
    """
    fields = rules_fields(text)
    if not fields and not text.lstrip().startswith("{"):  # neither JSON nor a long name: a short name
        by_short_name = {plain_letters(name): rules for name, rules in NAMED.items()}
        return by_short_name.get(short_name(text))
    is_damaged = not fields and text.replace(" ", "") != "{}"  # the JSON {} is valid: all fields have their defaults
    fields_are_known = set(fields) <= set(JSON_FIELDS)
    ko, suicide = fields.get("ko", "POSITIONAL"), fields.get("suicide", False)
    values_are_valid = isinstance(ko, str) and ko.lower() in KO_RULES and isinstance(suicide, bool)
    return Rules(ko.lower(), suicide) if fields_are_known and values_are_valid and not is_damaged else None


def short_name(text: str) -> str:
    """Return the short name of rules in lower case, such as "chinese" for "Chinese Rules" and "Chinese-KGS"."""
    word = re.sub("rules?$", "", plain_letters(text))
    return ALIASES.get(word, word)


def plain_letters(text: str) -> str:
    """Return the Latin letters of a text in lower case, without other signs; 日本 becomes "japanese"."""
    for name, spellings in COUNTRIES.items():
        text = re.sub(spellings, name, text)
    return re.sub("[^a-z]", "", text.lower())


def rules_fields(text: str) -> dict[str, Any]:
    """Return the fields of rules that are written as KataGo's JSON or as its long name; {} for any other text.

    The fields of a long name get the names and values that they have in the JSON.
    """
    if match := LONG_NAME.fullmatch(text.strip()):
        score = {"tax": match["tax"] or "NONE", "hasButton": match["button"] == "1"}
        bonus = (match["bonus"] or "0").upper()
        return {"ko": match["ko"], "suicide": match["suicide"] == "1", **score, "whiteHandicapBonus": bonus}
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def why_other_score(text: str) -> str:
    """Return why this package scores games otherwise than the rules in a text say; "" if it scores as they say.

    Args:
        text: a name, KataGo's long name, or its JSON.
    """
    has_bonus = str(rules_fields(text).get("whiteHandicapBonus", "0")) != "0"
    bonus_reason = f"rules must give White no bonus for handicap stones, which komi can do, got {shown(text)}"
    return other_scoring(text) or (bonus_reason if has_bonus else "")


def other_scoring(text: str) -> str:
    """Return why rules score otherwise than this package, bonuses for handicap stones aside; "" if they do not."""
    letters = plain_letters(text)
    if any(name.lower() in letters for name in TERRITORY) or "territory" in letters:
        return f"rules must score by area, as Chinese ones do, got those of {shown(text)}, which score by territory"
    fields = rules_fields(text)
    # A short name with the word "button" has one. The other forms have a field, which may also be False.
    if "button" in letters and fields.get("hasButton", True):
        return f"rules must have no button, got {shown(text)}"
    # Stone scoring is KataGo's short name of rules with a tax.  A tax on points in seki is accepted, but not counted.
    if letters == "stonescoring" or str(fields.get("tax", "NONE")).upper() not in ("NONE", "SEKI"):
        return f"rules must have no tax, got {shown(text)}"
    return ""


def gives_bonus(text: str) -> bool:
    """Return whether KataGo gives White points for handicap stones by the rules in a text, see `read_rules`."""
    fields = rules_fields(text)  # {} for a short name, which implies a value
    implied = "N" if short_name(text) in WITH_BONUS else "0"
    return str(fields.get("whiteHandicapBonus", implied)) != "0"


def named_rules(text: str) -> Rules:
    """Return the rules called `text`.

    Raises:
        ValueError: for an unknown name, and for rules that say another score than this package counts.
    """
    if why := why_other_score(text):
        raise ValueError(why)
    rules = read_rules(text)
    if rules is None:
        raise ValueError(f"rules must be one of {', '.join(played_rules())}, got {shown(text)}")
    return rules


def played_rules() -> list[str]:
    """Return the names of rules by which games are played and scored."""
    return [name for name in NAMED if name not in TERRITORY]


def rules_name(rules: Rules) -> str:
    """Return a name that `read_rules` and other programs understand: a short one if there is one, or KataGo's long."""
    long_name = f"ko{rules.ko.upper()}scoreAREAtaxNONEsui{int(rules.suicide)}"
    return next((name for name in played_rules() if NAMED[name] == rules), long_name)


def rules_json(rules: Rules) -> str:
    """Return the rules as KataGo's command `kata-get-rules` writes them, with all keys that other programs look for."""
    always = {"hasButton": False, "scoring": "AREA", "tax": "NONE", "whiteHandicapBonus": "0"}
    return json.dumps(always | {"ko": rules.ko.upper(), "suicide": rules.suicide}, sort_keys=True)


def usual_komi(size: int) -> float:
    """Return the default komi of a board: 9 on 7x7 (believed to be the fair value there), else 7.5."""
    return 9.0 if size == 7 else 7.5


def check_komi(komi: float) -> float:
    """Return komi as a float; raise ValueError unless it is a multiple of 0.5 from -MOST_KOMI to MOST_KOMI."""
    if is_finite(komi) and abs(komi) <= MOST_KOMI and (2 * float(komi)).is_integer():
        return float(komi)
    raise ValueError(f"komi must be a multiple of 0.5 from -{MOST_KOMI} to {MOST_KOMI}, got {shown(komi)}")


def handicap_komi(size: int, komi: float) -> float:
    """Return the komi of a game with handicap stones: 0.5 instead of the board's usual komi, else `komi` unchanged."""
    return HANDICAP_KOMI if komi == usual_komi(size) else komi


def most_handicap(size: int) -> int:
    """Return the most handicap stones on a board: 0 below 7x7, 4 on 7x7 and on boards of even size, 9 on others."""
    if size < 7:
        return 0
    return 4 if size == 7 or size % 2 == 0 else 9


def handicap_points(size: int, count: int) -> list[int]:
    """Return the actions of `count` handicap stones, placed as GTP's "fixed_handicap" does.

    They are on the third line, on 13x13 and larger boards on the fourth.

    Raises:
        ValueError: for a count below 2 or above `most_handicap(size)`.
    """
    most = most_handicap(size)
    if not 2 <= check_int("handicap", count, 0) <= most:
        allowed = f"from 2 to {most}" if most else "0"
        raise ValueError(f"handicap must be {allowed} on {size}x{size}, got {count}")
    near = 2 if size < 13 else 3  # the third or the fourth line, counted from 0
    far, middle = size - 1 - near, size // 2
    corners = [(far, near), (near, far), (near, near), (far, far)]  # (row, column), row 0 at the top
    sides = [(middle, near), (middle, far), (near, middle), (far, middle)]
    pairs_of_sides = max(0, count - 4) // 2  # the first four stones are in the corners
    places = corners[:count] + sides[: 2 * pairs_of_sides]
    if count in (5, 7, 9):  # a stone is left over besides corners and pairs of sides
        places.append((middle, middle))
    return [row * size + column for row, column in places]


def star_points(size: int) -> list[int]:
    """Return the star points as actions: 5 on 9x9, 13x13 and 15x15, 9 on 19x19, none on other boards."""
    if size not in (9, 13, 15, 19):
        return []
    return handicap_points(size, 9 if size == 19 else 5)


def list_points(points: Stones) -> list[str | int]:
    """Return the points in a text ('D4 E5') or in a collection, as a list; raise ValueError for anything else."""
    if not isinstance(points, Iterable):
        raise ValueError(f"stones must be a text such as 'D4 E5' or a collection of points, got {shown(points)}")
    return list(points.split() if isinstance(points, str) else points)


def check_planes(planes: int | str) -> tuple[str | None, int, int]:
    """Return (name, number of planes, number of boards that a position must remember for them).

    The name is that of a set of planes, or None for history planes.

    Args:
        planes: the name of a set of planes, or the number of history planes.

    Raises:
        ValueError: for an unknown name or a number that is not odd and >= 3.
    """
    if isinstance(planes, str) and planes in PLANE_SETS:
        return planes, *PLANE_SETS[planes]
    if not is_int(planes, 3) or planes % 2 == 0:
        # In GoEnv(9, 7.5) the second argument is perhaps meant as the komi.
        hint = f"; a komi is given as komi={planes:g}" if is_finite(planes) else ""
        raise ValueError(
            f"planes must be one of {', '.join(map(repr, PLANE_SETS))}, or an odd integer >= 3 (2 per remembered "
            f"board, 1 for the mover), got {shown(planes)}{hint}"
        )
    return None, int(planes), (int(planes) - 1) // 2  # two planes a board

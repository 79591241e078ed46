"""Queries of KataGo's analysis protocol: one JSON object a line, read and checked.

Source: KataGo's docs/Analysis_Engine.md, version 1.17.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from alphago.env.board import check_player
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.env.go_rules import MAX_SIZE, MIN_SIZE, Rules, check_komi, handicap_komi, long_name_fields, read_rules
from alphago.env.kernels import go_lines
from alphago.env.position import IllegalMove
from alphago.mcts.analysis_search import Forbidden
from alphago.system.validation import is_finite, is_int, shown
from alphago.ui.gtp.gtp_game import GtpGame
from alphago.ui.katago import SIDES

MOST_VISITS = 10_000_000
LEAST_PRIORITY = -(2**62)
ONLY_SLOT = np.zeros(1, np.int64)  # the slot of a position's batch, which has no other
FLAGS = (
    *("includeOwnership", "includeOwnershipStdev", "includeMovesOwnership", "includeMovesOwnershipStdev"),
    *("includePolicy", "includePVVisits"),
)
KNOWN = (
    *("id", "moves", "initialStones", "initialPlayer", "rules", "komi", "whiteHandicapBonus", "boardXSize"),
    *("boardYSize", "analyzeTurns", "maxVisits", "avoidMoves", "allowMoves", "overrideSettings"),
    *("reportDuringSearchEvery", "firstReportDuringSearchAfter", "priority", "priorities", "reuse", *FLAGS),
)
# Names of rules with which KataGo gives White points for handicap stones.
WITH_BONUS = ("chinese", "chineseogs", "chinesekgs", "aga", "bga", "agabutton")
NO_BONUS = "rules give White no bonus for handicap stones here, which komi can do"
# By the name of rules that are not supported, the supported rules that are nearest to them.
NEAREST = {"agabutton": "aga", "stonescoring": "chinese"}
TERRITORY = ("japanese", "korean")


class QueryError(ValueError):
    """An error in a query, with the name of the field that is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class QueryTurn(NamedTuple):
    """One position to analyse.

    number: how many of the query's moves lead to the position.
    priority: positions with a greater priority are searched first.
    """

    number: int
    position: GoPosition
    priority: int


@dataclass
class Query:
    """A checked query; the comment of a field has its name in the protocol."""

    id: str
    env: GoEnv
    turns: list[QueryTurn]  # analyzeTurns
    visits: int  # maxVisits, for each turn
    seconds: float | None  # maxTime, for each turn
    side: str  # reportAnalysisWinratesAs
    forbidden: list[Forbidden]  # avoidMoves, allowMoves
    reuse: bool  # whether the search goes on in the tree of an earlier query, and is kept for later ones
    every: float | None  # reportDuringSearchEvery, seconds
    first: float | None  # firstReportDuringSearchAfter, seconds
    flags: set[str] = field(default_factory=set)  # the names in FLAGS that the query sets to true
    warnings: list[tuple[str, str]] = field(default_factory=list)  # (field, message)
    note: str = ""  # warnings that the next reply to the query has to contain


class Defaults(NamedTuple):
    """The values of fields that a query leaves out, and the limits of a query.

    board: returns the game for a board size and rules; raises QueryError for a board that cannot be analysed.
    visits, side: the values of a query that leaves them out.
    most_visits: most visits of a position; a query that asks for more gets `most_visits`, and a warning.
    most_turns: most positions of a query.
    """

    board: Callable[[int, Rules], GoEnv]
    visits: int
    side: str
    most_visits: int = MOST_VISITS
    most_turns: int = 1_000_000


def read_query(fields: Mapping[str, Any], defaults: Defaults) -> Query:
    """Check the fields of a query and return it; raise QueryError for an invalid one."""
    warnings = [(name, f"unknown field {name}") for name in fields if name not in KNOWN]
    query_id = fields.get("id")
    if not isinstance(query_id, str):
        raise QueryError("id", f"id must be a string, got {shown(query_id)}")
    size = board_size(fields)
    rules, has_bonus = rules_of(fields)
    warnings += [("rules", text) for text in rules_warnings(fields["rules"])]
    override = fields.get("overrideSettings", {})
    if not isinstance(override, Mapping):
        raise QueryError("overrideSettings", f"overrideSettings must be an object, got {shown(override)}")
    fields_with_visits = override if "maxVisits" in override else fields
    visits = integer_field(fields_with_visits, "maxVisits", defaults.visits, least=1, most=MOST_VISITS)
    if visits > defaults.most_visits:
        warnings.append(("maxVisits", f"visits are limited to {defaults.most_visits} here"))
        visits = defaults.most_visits
    side = str(override.get("reportAnalysisWinratesAs", defaults.side)).upper()
    if side not in SIDES:
        raise QueryError("overrideSettings", f"reportAnalysisWinratesAs must be one of {', '.join(SIDES)}, got {side}")
    warnings += [
        ("overrideSettings", f"{name} has no effect here")
        for name in override
        if name not in ("maxVisits", "maxTime", "reportAnalysisWinratesAs")
    ]
    env = defaults.board(size, rules)
    turns = turns_of(fields, env, defaults.most_turns)
    if has_bonus and has_handicap(fields):
        warnings.append(("rules", NO_BONUS))
    return Query(
        id=query_id,
        env=env,
        turns=turns,
        visits=visits,
        seconds=positive_field(override, "maxTime"),
        side=side,
        forbidden=forbidden_moves(fields, env),
        reuse=boolean_field(fields, "reuse"),
        every=positive_field(fields, "reportDuringSearchEvery"),
        first=positive_field(fields, "firstReportDuringSearchAfter"),
        flags={name for name in FLAGS if boolean_field(fields, name)},
        warnings=warnings,
    )


def board_size(fields: Mapping[str, Any]) -> int:
    """Return the size of a query's board; raise QueryError if it is not square."""
    width = integer_field(fields, "boardXSize", None, least=MIN_SIZE, most=MAX_SIZE)
    height = integer_field(fields, "boardYSize", None, least=MIN_SIZE, most=MAX_SIZE)
    if width != height:
        raise QueryError("boardYSize", f"the board must be square, got {width}x{height}")
    return width


def rules_of(fields: Mapping[str, Any]) -> tuple[Rules, bool]:
    """Return a query's rules, and whether KataGo gives White a bonus for handicap stones with them.

    A query gives its rules as a name, or as an object with their parts.  For rules that are not supported, the nearest
    supported ones are returned; raises QueryError if there are none.
    """
    given = fields.get("rules")
    if given is None:
        raise QueryError("rules", "rules must be given")
    word = rules_word(given)
    parts = rules_parts(given)
    text = json.dumps(given) if isinstance(given, Mapping) else NEAREST.get(word, given)
    rules = read_rules(text) if isinstance(text, str) else None
    if rules is None:
        raise QueryError("rules", f"unknown rules {shown(given)}")
    bonus = fields.get("whiteHandicapBonus", parts.get("whiteHandicapBonus", "N" if word in WITH_BONUS else "0"))
    if str(bonus) not in ("0", "N", "N-1"):
        raise QueryError("whiteHandicapBonus", f"whiteHandicapBonus must be 0, N or N-1, got {shown(bonus)}")
    return rules, str(bonus) != "0"


def rules_warnings(given: object) -> list[str]:
    """Return warnings about the parts of a query's rules that are not supported; given: the field "rules"."""
    word = rules_word(given)
    parts = rules_parts(given)
    scoring = [str(parts.get(name)).upper() for name in ("scoring", "score")]
    warnings = []
    if word in TERRITORY or "TERRITORY" in scoring:
        warnings.append("territory scoring is not supported: games are scored by area, as in Chinese rules")
    has_tax = word == "stonescoring" or str(parts.get("tax", "NONE")).upper() not in ("NONE", "SEKI")
    has_button = word == "agabutton" or parts.get("hasButton")
    if has_tax or has_button:
        warnings.append("taxes and buttons are not supported: games are scored by area")
    return warnings


def rules_parts(given: object) -> Mapping[str, Any]:
    """Return the parts of rules that are an object or KataGo's long name; {} for anything else."""
    if isinstance(given, Mapping):
        return given
    return long_name_fields(given) if isinstance(given, str) else {}


def rules_word(given: object) -> str:
    """Return a name for rules in small letters, as in WITH_BONUS, NEAREST and TERRITORY; "" if `given` is none."""
    return re.sub("[^a-z]", "", given.lower()) if isinstance(given, str) else ""


def has_handicap(fields: Mapping[str, Any]) -> bool:
    """Return whether Black has several stones before White's first in a checked query, set up or as moves."""
    stones, moves = fields.get("initialStones", []), fields["moves"]
    players = [colour("moves", player) for player, _ in (*stones, *moves[:2])]
    return players[:2] == [1, 1] and -1 not in players[: len(stones)]


def turns_of(fields: Mapping[str, Any], env: GoEnv, most: int) -> list[QueryTurn]:
    """Return the positions to analyse; raise QueryError for invalid fields, or for more than `most` positions."""
    moves = pairs(fields, "moves", env, required=True)
    stones = pairs(fields, "initialStones", env)
    priorities = priorities_of(fields, len(moves), most)
    black = [action for player, action in stones if player == 1]
    white = [action for player, action in stones if player == -1]
    first = first_player(fields, moves)
    is_handicap = not white and len(black) > 1 and first == -1
    default_komi = handicap_komi(env.N, env.komi) if is_handicap else env.komi
    komi = komi_of(fields, default_komi)
    try:
        game = GtpGame(env, komi, black=black, white=white, first=first)
    except ValueError as error:
        raise QueryError("initialStones", str(error)) from None
    positions = positions_by_kernel(game.position, moves, priorities)
    if positions is None:
        positions = positions_by_plays(game, moves, priorities)
    return [QueryTurn(number, positions[number], priorities[number]) for number in sorted(priorities)]


def priorities_of(fields: Mapping[str, Any], last: int, most: int) -> dict[int, int]:
    """Return the priority of each position to analyse, by its number: the number of moves that lead to it.

    last: the number of the last position.  Raises QueryError for invalid fields, or for more than `most` positions.
    """
    chosen = fields.get("analyzeTurns", [last])
    if not isinstance(chosen, list) or not all(is_int(turn, 0) and turn <= last for turn in chosen):
        raise QueryError("analyzeTurns", f"analyzeTurns must be integers from 0 to {last}, got {shown(chosen)}")
    if not chosen:
        raise QueryError("analyzeTurns", "analyzeTurns must be one turn or more, got []")
    if len(chosen) > most:
        raise QueryError("analyzeTurns", f"analyzeTurns must be at most {most} here, got {len(chosen)}")
    priorities = fields.get("priorities", [fields.get("priority", 0)] * len(chosen))
    if not isinstance(priorities, list) or not all(is_int(number, LEAST_PRIORITY) for number in priorities):
        raise QueryError("priority", f"priorities must be integers, got {shown(priorities)}")
    if len(priorities) != len(chosen):
        raise QueryError("priorities", f"priorities must be one for each turn, got {len(priorities)}")
    return dict(zip(chosen, priorities, strict=True))


def positions_by_kernel(
    start: GoPosition, moves: Sequence[tuple[int, int]], wanted: Collection[int]
) -> dict[int, GoPosition] | None:
    """Return the wanted positions by number; None if a move is illegal, or if the game ends before its last move.

    This is much faster than `positions_by_plays`, which matters when queries come by the thousand.

    moves: (colour, action) pairs.  wanted: numbers of positions; position n is the one after n moves.
    """
    found = {}
    batch = start.batch.extract(0)
    row = GoPosition(start.env, batch, start.setup).row  # of `batch`, which `follow` changes below
    colours, actions = np.array(moves, np.int32).reshape(-1, 2).T.copy()
    over = np.empty(1, np.bool_)
    played = 0
    for number in sorted({*wanted, len(moves)}):  # the last position too, since every move must be legal
        legal = go_lines.follow(row, colours[played:number], actions[played:number])
        if played + legal < number or batch.is_over(ONLY_SLOT, over)[0]:
            return None
        played = number
        if number in wanted:
            history = {"moves": tuple(actions[:number].tolist()), "movers": tuple(colours[:number].tolist())}
            position = GoPosition(start.env, batch.extract(0), start.setup, **history)
            found[number] = position.give_turn(moves[number][0]) if number < len(moves) else position
    return found


def positions_by_plays(
    game: GtpGame, moves: Sequence[tuple[int, int]], wanted: Collection[int]
) -> dict[int, GoPosition]:
    """Return the wanted positions by number, also of a game whose moves go on after two passes.

    moves, wanted: as in `positions_by_kernel`.  Raises QueryError for an illegal move.
    """
    found = {}
    for number, (player, action) in enumerate(moves):
        if number in wanted:
            found[number] = game.ready(player)
        try:
            game.play(player, action)
        except IllegalMove as error:
            # KaTrain looks for the words "Illegal move", which are KataGo's.
            raise QueryError("moves", f"Illegal move {number}: {error}") from None
    if len(moves) in wanted:
        found[len(moves)] = game.ready(game.to_play)
    return found


def first_player(fields: Mapping[str, Any], moves: Sequence[tuple[int, int]]) -> int:
    if "initialPlayer" in fields:
        return colour("initialPlayer", fields["initialPlayer"])
    return moves[0][0] if moves else 1


def komi_of(fields: Mapping[str, Any], default: float) -> float:
    """Return the query's komi, or `default` if it gives none; raise QueryError for an invalid komi."""
    if "komi" not in fields:
        return default
    try:
        return check_komi(fields["komi"])
    except ValueError as error:
        raise QueryError("komi", str(error)) from None


def pairs(fields: Mapping[str, Any], name: str, env: GoEnv, *, required: bool = False) -> list[tuple[int, int]]:
    """Return the [player, location] pairs in a field as (colour, action) pairs.

    A missing field gives [], or raises QueryError if it is `required`.
    """
    if name not in fields and not required:
        return []
    given = fields.get(name)
    if not isinstance(given, list):
        raise QueryError(name, f"{name} must be a list of [player, location], got {shown(given)}")
    found = []
    for pair in given:
        if not isinstance(pair, list) or len(pair) != 2:
            raise QueryError(name, f"{name} must be a list of [player, location], got {shown(pair)}")
        found.append((colour(name, pair[0]), location(name, pair[1], env)))
    return found


def colour(name: str, given: object) -> int:
    """Return a player as +1 (Black) or -1 (White); raise QueryError for the field `name` if `given` is no player."""
    if given in ("B", "W"):  # nearly always so, and faster than `check_player`
        return 1 if given == "B" else -1
    try:
        return check_player(given if isinstance(given, str) else "")
    except ValueError:
        raise QueryError(name, f'a player must be "B" or "W", got {shown(given)}') from None


def location(name: str, given: object, env: GoEnv) -> int:
    """Return the action of a location: "D4", "(3,15)" (column and row from the top left), or "pass".

    Raises QueryError for the field `name` if `given` is no location.
    """
    if isinstance(given, str):
        try:
            return env.from_text(given)
        except ValueError:
            match = re.fullmatch(r"\((\d{1,3}),(\d{1,3})\)", given.replace(" ", ""))
            if match and int(match[1]) < env.N and int(match[2]) < env.N:
                return int(match[2]) * env.N + int(match[1])
    raise QueryError(name, f"a location must be such as D4, (3,15) or pass, got {shown(given)}")


def forbidden_moves(fields: Mapping[str, Any], env: GoEnv) -> list[Forbidden]:
    """Return the moves that `avoidMoves` and `allowMoves` forbid."""
    found: list[Forbidden] = []
    for name in ("avoidMoves", "allowMoves"):
        given = fields.get(name, [])
        if not isinstance(given, list) or not all(isinstance(rule, Mapping) for rule in given):
            raise QueryError(name, f"{name} must be a list of objects, got {shown(given)}")
        for rule in given:
            moves = rule.get("moves")
            if not isinstance(moves, list):
                raise QueryError(name, f"moves must be a list, got {shown(moves)}")
            actions = frozenset(location(name, move, env) for move in moves)
            if name == "allowMoves":
                actions = frozenset(range(env.action_space)) - actions
            depth = rule.get("untilDepth")
            if not is_int(depth, 1):
                raise QueryError(name, f"untilDepth must be an integer >= 1, got {shown(depth)}")
            player = colour(name, rule.get("player"))
            if name == "allowMoves" and any(player == earlier.player for earlier in found):
                raise QueryError(name, "allowMoves must have one object for each player, and no avoidMoves beside it")
            found.append(Forbidden(player, actions, depth))
    return found


def integer_field(fields: Mapping[str, Any], name: str, default: int | None, *, least: int, most: int) -> int:
    """Return a field that is an integer from `least` to `most`, or `default` if the field is missing.

    Raises QueryError for any other value, and for a missing field without default.
    """
    value = fields.get(name, default)
    if not is_int(value, least) or value > most:
        raise QueryError(name, f"{name} must be an integer from {least} to {most}, got {shown(value)}")
    return int(value)


def positive_field(fields: Mapping[str, Any], name: str) -> float | None:
    """Return a field that is a number > 0; None if it is missing; raise QueryError for any other value."""
    value = fields.get(name)
    if value is None:
        return None
    if not is_finite(value) or value <= 0:
        raise QueryError(name, f"{name} must be a number > 0, got {shown(value)}")
    return float(value)


def boolean_field(fields: Mapping[str, Any], name: str) -> bool:
    """Return a field that is true or false; False if it is missing; raise QueryError for any other value."""
    value = fields.get(name, False)
    if not isinstance(value, bool):
        raise QueryError(name, f"{name} must be true or false, got {shown(value)}")
    return value

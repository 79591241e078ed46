"""Queries of KataGo's analysis protocol: one JSON object a line, read and checked.

Source: KataGo's docs/Analysis_Engine.md, version 1.17.
"""

import contextlib
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from alphago.env import go_rules
from alphago.env.board import PLAYERS
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.env.position import IllegalMove
from alphago.mcts.questions import Limit
from alphago.mcts.search import Forbidden
from alphago.system.validation import MOST_READOUTS, check_choice, check_int, check_positive, is_int, shown
from alphago.ui.gtp.gtp_game import GtpGame
from alphago.ui.katago import SIDES

T = TypeVar("T")
Play = tuple[int, int]  # a colour, +1 or -1, and an action
LEAST_PRIORITY = -(2**62)
GTP_WORDS = ("name", "version", "protocol_version", "list_commands", "boardsize", "clear_board", "genmove")
WORDS = ("ownership", "ownershipStdev", "movesOwnership", "movesOwnershipStdev", "policy")
# By the name of a flag, such as includeOwnership: the fields that it adds to replies, in the words of `katago.py`.
FLAGS = {f"include{word[0].upper()}{word[1:]}": [word] for word in WORDS}
FLAGS |= {"includePVVisits": ["pvVisits", "pvEdgeVisits"]}
KNOWN_FIELDS = (
    *("id", "moves", "initialStones", "initialPlayer", "rules", "komi", "whiteHandicapBonus", "boardXSize"),
    *("boardYSize", "analyzeTurns", "maxVisits", "avoidMoves", "allowMoves", "overrideSettings"),
    *("reportDuringSearchEvery", "firstReportDuringSearchAfter", "priority", "priorities", "reuse", *FLAGS),
)
# By the name of rules that are not supported, the supported rules that are nearest to them.
NEAREST = {"agabutton": "aga", "stonescoring": "chinese"}


class QueryError(ValueError):
    """An error in a query, with the name of the field that is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def require(holds: bool, name: str, expected: str, given: object, field: str = "") -> None:
    """Raise QueryError with the text "NAME must be EXPECTED, got GIVEN" unless `holds`.

    Args:
        field: the field of the query that is wrong; "" if it is `name`.
    """
    if not holds:
        raise QueryError(field or name, f"{name} must be {expected}, got {shown(given)}")


class QueryTurn(NamedTuple):
    """One position to analyse.

    Attributes:
        number: how many of the query's moves lead to the position.
        priority: positions with a greater priority are searched first.
    """

    number: int
    position: GoPosition
    priority: int


@dataclass
class Query:
    """A checked query."""

    id: str
    turns: list[QueryTurn]  # the protocol's `analyzeTurns`
    side: str  # the protocol's `reportAnalysisWinratesAs`
    search: dict[str, Any]  # options of `Analyst.ask` for each turn
    flags: set[str] = field(default_factory=set)  # the values in FLAGS of the flags that are true
    warnings: list[tuple[str, str]] = field(default_factory=list)  # (field, message)
    note: str = ""  # warnings that the next reply to the query has to contain


class Limits(NamedTuple):
    """What the clients of an engine may ask of it; the defaults are for clients on the engine's own machine.

    Attributes:
        characters: most characters of a line.
        positions: most positions of a query, and most positions of all queries that wait or are searched.
        visits: most visits of a position; a query that asks for more gets `visits`, and a warning.
        slots: most positions that a thread searches side by side.
        kinds: most kinds of searches whose trees are kept for later queries; a kind has one board size and rules.
        tree_bytes: most bytes of all trees of a thread together; the search of a position ends early if its tree is
            full.
    """

    characters: int = 10_000_000
    positions: int = 1_000_000
    visits: int = MOST_READOUTS
    slots: int = 64
    kinds: int = 16
    tree_bytes: int = 2**31


class Defaults(NamedTuple):
    """The values of fields that a query leaves out, and the limits of a query.

    Attributes:
        game: returns the game for a board size and rules; raises ValueError for a board that cannot be analysed.
        visits: the default of `maxVisits`.
        side: the default of `reportAnalysisWinratesAs`.
    """

    game: Callable[[int, go_rules.Rules], GoEnv]
    visits: int
    side: str
    limits: Limits


def read_object(line: str, most: int) -> dict[str, Any]:
    """Return the query or action in a line; raise ValueError for more than `most` characters, or no JSON object."""
    if len(line) > most:
        raise ValueError(f"a query must have at most {most} characters, got {len(line)}")
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as problem:
        is_gtp = line.strip().partition(" ")[0] in GTP_WORDS
        text = "this is the JSON analysis protocol; `alphago gtp` speaks GTP" if is_gtp else f"no JSON: {problem}"
        raise ValueError(text) from None
    if not isinstance(fields, dict):
        raise ValueError(f"a query must be a JSON object, got {shown(fields)}")
    return fields


def read_query(fields: Mapping[str, Any], defaults: Defaults) -> Query:
    """Return the query that some fields make; raise QueryError if it is invalid."""
    warnings = [(name, f"unknown field {name}") for name in fields if name not in KNOWN_FIELDS]
    query_id: Any = fields.get("id")
    require(isinstance(query_id, str), "id", "a string", query_id)
    size = board_size(fields)
    rules, other_scoring, gives_bonus = interpret_rules(rules_text(fields))
    if other_scoring:
        warnings.append(("rules", f"games are scored by area, and not as the query says: {other_scoring}"))
    override = fields.get("overrideSettings", {})
    require(isinstance(override, Mapping), "overrideSettings", "an object", override)
    # The value in `overrideSettings` counts; if there is none, the query's; if there is none either, the default.
    max_visits = {"maxVisits": defaults.visits, **fields, **override}["maxVisits"]
    visits = check_field(check_int, "maxVisits", max_visits, 1, MOST_READOUTS, field="maxVisits")
    if visits > defaults.limits.visits:
        warnings.append(("maxVisits", f"visits are limited to {defaults.limits.visits} here"))
        visits = defaults.limits.visits
    side = str(override.get("reportAnalysisWinratesAs", defaults.side)).upper()
    check_field(check_choice, "reportAnalysisWinratesAs", side, SIDES, field="overrideSettings")
    unused = [name for name in override if name not in ("maxVisits", "maxTime", "reportAnalysisWinratesAs")]
    warnings += [("overrideSettings", f"{name} has no effect here") for name in unused]
    env = check_field(defaults.game, size, rules, field="boardXSize")
    stones = read_plays("initialStones", fields.get("initialStones", []), env)
    moves = read_plays("moves", fields.get("moves"), env)
    turns, has_handicap = parse_turns(fields, env, stones, moves, defaults.limits.positions)
    if asks_for_bonus(fields, gives_bonus) and has_handicap:
        warnings.append(("rules", go_rules.NO_BONUS))
    # FLAGS: by a boolean field of the query, such as includeOwnership, the fields that it adds to replies.
    flags = {added for name in FLAGS if boolean_field(fields, name) for added in FLAGS[name]}
    # A limit counts simulations, without the first visit, which is the evaluation of the position itself.
    limit = Limit(visits - 1, positive_field(override, "maxTime"))
    return Query(query_id, turns, side, search_options(fields, env, limit, flags), flags, warnings)


def search_options(fields: Mapping[str, Any], env: GoEnv, limit: Limit, flags: Collection[str]) -> dict[str, Any]:
    """Return the options of `Analyst.ask` for a query's turns; `flags` are as in `Query`."""
    return {
        "limit": limit,
        "avoid": forbidden_moves(fields, env),
        "every": positive_field(fields, "reportDuringSearchEvery"),
        "first": positive_field(fields, "firstReportDuringSearchAfter"),
        "move_ownership": "movesOwnership" in flags or "movesOwnershipStdev" in flags,
        "reuse": boolean_field(fields, "reuse"),
    }


def asks_for_bonus(fields: Mapping[str, Any], is_usual: bool) -> bool:
    """Return whether a query wants points for White for handicap stones; raise QueryError for an invalid field.

    Args:
        is_usual: whether the query's rules give the bonus; the field `whiteHandicapBonus` may say otherwise.
    """
    bonus = fields.get("whiteHandicapBonus", "N" if is_usual else "0")
    require(str(bonus) in ("0", "N", "N-1"), "whiteHandicapBonus", "0, N or N-1", bonus)
    return str(bonus) != "0"


def board_size(fields: Mapping[str, Any]) -> int:
    """Return the size of a query's board; raise QueryError if it is impossible, or the board is not square."""
    names, limits = ("boardXSize", "boardYSize"), (go_rules.MIN_SIZE, go_rules.MAX_SIZE)
    width, height = (check_field(check_int, name, fields.get(name), *limits, field=name) for name in names)
    if width != height:
        raise QueryError("boardYSize", f"the board must be square, got {width}x{height}")
    return width


def rules_text(fields: Mapping[str, Any]) -> str:
    """Return a query's rules as a text for `read_rules`: a name, or an object with their parts as JSON.

    For a field of another type it is "", which `interpret_rules` then refuses as unknown.  Raises QueryError if the
    field is missing.
    """
    given = fields.get("rules")
    if given is None:
        raise QueryError("rules", "rules must be given")
    if isinstance(given, Mapping):
        return json.dumps(given)
    return given if isinstance(given, str) else ""


@lru_cache  # programs ask by the same rules again and again
def interpret_rules(text: str) -> tuple[go_rules.Rules, str, bool]:
    """Return the supported rules nearest to those of a text, and two facts about the rules in the text.

    The facts are how their scoring differs from the one used here ("" if it is the same), and whether they give White a
    bonus for handicap stones.  Raises QueryError for unknown rules.
    """
    rules = go_rules.read_rules(NEAREST.get(go_rules.plain_letters(text), text))
    if rules is None:
        raise QueryError("rules", f"unknown rules {shown(text)}")
    return rules, go_rules.other_scoring(text), go_rules.gives_bonus(text)


def parse_turns(
    fields: Mapping[str, Any], env: GoEnv, stones: Sequence[Play], moves: Sequence[Play], most: int
) -> tuple[list[QueryTurn], bool]:
    """Return the positions to analyse, in the order of the game, and whether Black has handicap stones.

    Args:
        stones: the query's set-up stones.
        moves: its moves.
        most: the most positions.

    Raises:
        QueryError: for invalid fields, or for more than `most` positions.
    """
    priorities = parse_priorities(fields, len(moves), most)  # by the numbers of the turns
    black, white = ([action for player, action in stones if player == side] for side in (1, -1))
    first_player = moves[0][0] if moves else 1
    if "initialPlayer" in fields:
        first_player = colour("initialPlayer", fields["initialPlayer"])
    # Whether the stones that are set up are a handicap; `game.has_handicap` below also counts stones that are played.
    is_handicap = not white and len(black) > 1 and first_player == -1
    default_komi = go_rules.handicap_komi(env.N, env.komi) if is_handicap else env.komi
    komi = check_field(go_rules.check_komi, fields["komi"], field="komi") if "komi" in fields else default_komi
    game = check_field(GtpGame, env, komi, black, white, first_player, field="initialStones")
    positions = positions_after(game, moves, priorities)
    turns = [QueryTurn(number, positions[number], priorities[number]) for number in sorted(priorities)]
    return turns, game.has_handicap


def parse_priorities(fields: Mapping[str, Any], last: int, most: int) -> dict[int, int]:
    """Return the priority of each position to analyse, by the number of moves that lead to it.

    Args:
        last: the number of the query's moves.
        most: the most positions.

    Raises:
        QueryError: for invalid fields, or for more than `most` positions.
    """
    chosen = fields.get("analyzeTurns", [last])
    are_turns = isinstance(chosen, list) and all(is_int(turn, 0) and turn <= last for turn in chosen)
    require(are_turns, "analyzeTurns", f"integers from 0 to {last}", chosen)
    require(bool(chosen), "analyzeTurns", "one turn or more", chosen)
    require(len(chosen) <= most, "analyzeTurns", f"at most {most} here", len(chosen))
    priorities = fields.get("priorities", [fields.get("priority", 0)] * len(chosen))
    are_integers = isinstance(priorities, list) and all(is_int(number, LEAST_PRIORITY) for number in priorities)
    # The text names the list.  The error is for the field "priority", which queries usually have instead of the list.
    require(are_integers, "priorities", "integers", priorities, field="priority")
    require(len(priorities) == len(chosen), "priorities", "one for each turn", len(priorities))
    return dict(zip(chosen, priorities, strict=True))


def positions_after(game: GtpGame, moves: Sequence[Play], numbers: Collection[int]) -> dict[int, GoPosition]:
    """Play moves in a game, and return the positions to which the given numbers of moves lead, by these numbers.

    The moves may go on after two passes.

    Args:
        game: a game without plays; all moves are played in it.
        numbers: how many moves lead to each of the positions.

    Raises:
        QueryError: for an illegal move.
    """
    positions = {}
    for number in sorted({*numbers, len(moves)}):  # the last too, since every move must be legal
        play_moves(game, moves[len(game.plays) : number])
        if number in numbers:  # the player of the next move, if there is one, is then to move
            positions[number] = game.position_for(moves[number][0] if number < len(moves) else game.to_play)
    return positions


def play_moves(game: GtpGame, moves: Sequence[Play]) -> None:
    """Play a game's next moves, at once unless passes may end it; raise QueryError for an illegal move."""
    actions = [action for _, action in moves]
    if actions.count(game.env.pass_action) < 2 and not game.position.is_over:
        with contextlib.suppress(IllegalMove):  # raised again below, with the number of the move
            game.position = game.position.after(actions, [player for player, _ in moves])
            game.plays += moves
            return
    for player, action in moves:
        try:
            game.play(player, action)
        except IllegalMove as error:
            # KaTrain looks for the words "Illegal move", which are KataGo's.
            raise QueryError("moves", f"Illegal move {len(game.plays)}: {error}") from None


def read_plays(name: str, given: Any, env: GoEnv) -> list[Play]:
    """Return the [player, location] pairs in a field as plays; raise QueryError for anything else.

    Args:
        name: the field's name, for errors.
        given: its value.
    """
    expected = "a list of [player, location]"
    require(isinstance(given, list), name, expected, given)
    plays = []
    for pair in given:
        require(isinstance(pair, list) and len(pair) == 2, name, expected, pair)
        plays.append((colour(name, pair[0]), location(name, pair[1], env)))
    return plays


def colour(name: str, given: object) -> int:
    """Return a player as +1 (Black) or -1 (White); raise QueryError for the field `name` if `given` is no player."""
    player = PLAYERS.get(given.lower(), 0) if isinstance(given, str) else 0
    require(player != 0, "a player", '"B" or "W"', given, field=name)
    return player


def location(name: str, given: object, env: GoEnv) -> int:
    """Return the action of a location: "D4", "(3,15)" (column and row from the top left), or "pass".

    Raises:
        QueryError: for the field `name` if `given` is no location.
    """
    if isinstance(given, str):
        try:
            return env.from_text(given)
        except ValueError:
            match = re.fullmatch(r"\((\d{1,3}),(\d{1,3})\)", given.replace(" ", ""))
            if match and int(match[1]) < env.N and int(match[2]) < env.N:  # column, row
                return int(match[2]) * env.N + int(match[1])
    raise QueryError(name, f"a location must be such as D4, (3,15) or pass, got {shown(given)}")


def forbidden_moves(fields: Mapping[str, Any], env: GoEnv) -> list[Forbidden]:
    """Return the moves that `avoidMoves` and `allowMoves` forbid; `allowMoves` forbids all moves that it does not list.

    Raises:
        QueryError: for an invalid field.
    """
    forbidden: list[Forbidden] = []
    for name in ("avoidMoves", "allowMoves"):
        given = fields.get(name, [])
        are_rules = isinstance(given, list) and all(isinstance(rule, Mapping) for rule in given)
        require(are_rules, name, "a list of objects", given)
        for rule in given:
            moves, depth = rule.get("moves"), rule.get("untilDepth")
            require(isinstance(moves, list), "moves", "a list", moves, field=name)
            actions = frozenset(location(name, move, env) for move in moves)
            if name == "allowMoves":
                actions = frozenset(range(env.action_space)) - actions
            require(is_int(depth, 1), "untilDepth", "an integer >= 1", depth, field=name)
            player = colour(name, rule.get("player"))
            if name == "allowMoves" and any(player == earlier.player for earlier in forbidden):
                raise QueryError(name, "allowMoves must have one object for each player, and no avoidMoves beside it")
            forbidden.append(Forbidden(player, actions, depth))
    return forbidden


def check_field(check: Callable[..., T], *arguments: object, field: str) -> T:
    """Return `check(*arguments)`; raise QueryError for the query's field `field` instead of a ValueError."""
    try:
        return check(*arguments)
    except ValueError as error:
        raise QueryError(field, str(error)) from None


def positive_field(fields: Mapping[str, Any], name: str) -> float | None:
    """Return a field that is a number > 0; None if it is missing; raise QueryError for any other value."""
    return None if fields.get(name) is None else check_field(check_positive, name, fields[name], field=name)


def boolean_field(fields: Mapping[str, Any], name: str) -> bool:
    """Return a field that is true or false; False if it is missing; raise QueryError for any other value."""
    value: Any = fields.get(name, False)
    require(isinstance(value, bool), name, "true or false", value)
    return bool(value)

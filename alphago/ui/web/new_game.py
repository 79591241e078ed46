"""The games that pages ask for: a new game by its options, or the game that a link describes."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from alphago.env.game import GameEnv, Position
from alphago.env.games import GAMES, make_game
from alphago.env.go import GoEnv
from alphago.env.go_rules import named_rules
from alphago.system.validation import check_int, near_misses, shown
from alphago.ui.web.game_tree import MOST_NODES, GameTree
from alphago.ui.web.views import options_of

MOST_POINTS = 25 * 25  # of a board
SETUP = ("black", "white", "to_play")  # what a link has of a set-up position
WHOLE_NUMBERS = ("board_size", "connect_row", "height", "width", "max_moves")


def usual_game(name: str, bases: Mapping[str, GameEnv]) -> GameEnv:
    """Return the game `name` with its usual options, from `bases` if it is there; raise ValueError if it is unknown."""
    if name in bases:
        return bases[name]
    if name not in GAMES:
        raise ValueError(f"there is no game {shown(name)}: {near_misses(str(name), list(GAMES))}")
    return make_game(name).match_variant()


def game_of(name: Any, options: Any, bases: Mapping[str, GameEnv]) -> GameEnv:
    """Return a game by its name and options; the names of options are those of `options_of`.

    An option that is left out, None or "" has its usual value.
    bases: games by name; their options are the usual values, instead of the package's defaults.
    Raises ValueError for impossible options.
    """
    base = usual_game(str(name), bases)
    if not isinstance(options, Mapping):
        raise ValueError(f"options must be an object, got {shown(options)}")
    given = {str(key): value for key, value in options.items() if value not in (None, "")}
    known = options_of(base)
    for key in given:
        if key not in known:
            raise ValueError(f"{base.name} has no option {key!r}: {near_misses(key, list(known))}")
        if isinstance(known[key], bool):
            given[key] = {"True": True, "False": False}.get(given[key], given[key])  # as links have it
    for key in WHOLE_NUMBERS:
        if key in given:
            given[key] = check_int(key, as_number(given[key]), 1, MOST_NODES)
    if isinstance(base, GoEnv):
        if "rules" in given:
            given |= named_rules(str(given.pop("rules")))._asdict()
        if "komi" in given:
            given["komi"] = as_number(given["komi"])
    try:
        env = base.replace(**given).match_variant() if given else base
    except TypeError as error:
        raise ValueError(f"{base.name} cannot be played so: {error}") from None
    if env.plane_shape[0] * env.plane_shape[1] > MOST_POINTS:
        raise ValueError(f"a board must have at most {MOST_POINTS} points, got {env}")
    return env


def as_number(value: Any) -> Any:
    """Return the number that a text stands for, as links have it; anything else unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return int(value) if value.lstrip("-").isdecimal() else float(value)
    except ValueError:
        return value


def start_of(env: GameEnv, setup: Mapping[str, Any]) -> Position:
    """Return the first position of a game; raise ValueError for an impossible set-up.

    setup: for Go, either `handicap` (2 to 9) or any of `black`, `white` and `to_play` as in `GoEnv.position`; stones
        are ignored beside a handicap.  If empty, the start position.  Other games ignore it.
    """
    if not setup or not isinstance(env, GoEnv):
        return env.position()
    handicap = as_number(setup.get("handicap") or 0)
    if handicap:
        check_int("handicap", handicap, 2, 9)
        return env.position(handicap=handicap)
    stones = {key: str(setup[key]) for key in SETUP if setup.get(key)}
    return env.position(**stones)  # type: ignore[arg-type]


def link_of(tree: GameTree) -> str:
    """Return the position on the board as a text for a link: game, options, set-up and moves."""
    fields = {"game": tree.env.name, **options_of(tree.env)}
    fields |= {key: tree.start.setup[key] for key in SETUP if tree.start.setup.get(key)}
    moves = ".".join(tree.env.to_text(tree.nodes[number].action) for number in tree.path()[1:])
    return urlencode({**fields, **({"moves": moves} if moves else {})})


def open_link(text: Any, bases: Mapping[str, GameEnv]) -> GameTree:
    """Return the game that a text of `link_of` describes; raise ValueError or IllegalMove for any other text.

    bases: as in `game_of`.
    """
    if not isinstance(text, str):
        raise ValueError(f"a link must be a text, got {shown(text)}")
    fields = dict(parse_qsl(text.lstrip("#")))
    if "game" not in fields:
        raise ValueError(f"a link must name a game, got {shown(text)}")
    name, moves = fields.pop("game"), fields.pop("moves", "")
    setup = {key: fields.pop(key) for key in SETUP if key in fields}
    env = game_of(name, fields, bases)
    tree = GameTree(env, start_of(env, setup))
    for word in moves.split(".") if moves else ():
        tree.play(tree.position.check_action(word))
    return tree

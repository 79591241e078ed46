"""The games that pages ask for: by their options, by a link, or as an answer has named them before.

`GameTree` is a game with its variations, as files and runs have it; the page keeps it, and sends it back to be saved.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode

from alphago.env.game import GameEnv
from alphago.env.games import GAMES, make_game
from alphago.env.position import Position
from alphago.system.validation import near_misses, shown

T = TypeVar("T", list[Any], dict[str, Any])
MOST_POINTS = 25 * 25  # of a board
MOST_NODES = 4000  # of a game with its variations
SKIPPED_TURN = "_"  # stands before a move out of turn among the moves of a link
LETTERS = {"B": 1, "W": -1}  # the sides of moves, as KataGo's queries write them


def usual_game(name: str, bases: Mapping[str, GameEnv]) -> GameEnv:
    """Return the game `name` with its usual options: from `bases`, or else the package's.

    Raises:
        ValueError: if there is no such game.
    """
    if name in bases:
        return bases[name]
    if name not in GAMES:
        raise ValueError(f"there is no game {shown(name)}: {near_misses(str(name), list(GAMES))}")
    return make_game(name).match_variant()


def describe_start(start: Position) -> dict[str, Any]:
    """Return what names a game and its first position in the queries of a page, as plain data for `start_from`."""
    env, setup = start.env, start.setup
    config = {name: setup.get(name, value) for name, value in env.config.items()}  # the set-up may have another komi
    words = {word: setup[word] for word in env.setup_words if word in setup}
    return {"name": env.name, "config": config, "setup": words}


def start_from(game: Mapping[str, Any], bases: Mapping[str, GameEnv]) -> Position:
    """Return the first position of a game.

    Args:
        game: its name; its config, or options by the names of `GameEnv.options`; and the set-up.  An option that a
            person left out, None or "", has its usual value.  The set-up has either options `at_start`, such as a
            handicap in Go, or the game's `setup_words`, such as stones, which are ignored beside such options.  Options
            `at_start` bring values of other options (`Option.also`), such as a komi of 0.5, unless these are given.
            Names in the set-up that the game does not have are ignored.
        bases: games by name, whose options are the usual values; for other games these are the package's defaults.

    Raises:
        ValueError: for an impossible game.
    """
    base = usual_game(str(game.get("name")), bases)
    config, options, setup = (field_of(game, name, dict) for name in ("config", "options", "setup"))
    known = {option.name: option for option in base.options}
    at_start = {name: known[name].read(setup[name]) for name in known if known[name].at_start and setup.get(name)}
    at_start = {name: value for name, value in at_start.items() if value}  # without the text "0", which was read as 0
    chosen: dict[str, Any] = {}
    for name in at_start:
        chosen |= known[name].also
    for name, value in options.items():
        if name not in known or known[name].at_start:
            raise ValueError(f"{base.name} has no option {name!r}: {near_misses(name, list(known))}")
        if value not in (None, ""):
            chosen[name] = known[name].read(value)
    try:  # a base has no limits that only help self-play; a game that is made anew has its defaults
        env = base.replace(**config)
        env = env.choose(**chosen).match_variant() if chosen else env
    except TypeError as error:  # from a game of one's own
        raise ValueError(f"{base.name} cannot be played so: {error}") from None
    if env.plane_shape[0] * env.plane_shape[1] > MOST_POINTS:
        raise ValueError(f"a board must have at most {MOST_POINTS} points, got {env}")
    env = base if env == base else env  # which has made its tables
    return env.position(**(at_start or {word: str(setup[word]) for word in env.setup_words if setup.get(word)}))


def field_of(given: Mapping[str, Any], name: str, kind: type[T]) -> T:
    """Return a field that is a list or a dict, by default an empty one; raise ValueError for others."""
    value = given.get(name, kind())
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be {'a list' if kind is list else 'an object'}, got {shown(value)}")
    return value


def next_position(position: Position, move: object) -> Position:
    """Return the position after a move of a query, ["B", "C3"]; raise ValueError for an impossible one."""
    match move:
        case [str(side), str(text)] if side in LETTERS:
            ready = position if position.is_over else position.give_turn(LETTERS[side])
            return ready.play(text)
    raise ValueError(f'a move must be such as ["B", "C3"], got {shown(move)}')


# --- links -----------------------------------------------------------------------------------------


def link_head(start: Position) -> str:
    """Return the part of a link that names a game, its options and its set-up; a page adds the moves."""
    env, setup = start.env, start.setup
    fields = {"game": env.name}
    # Options at the start, such as a handicap, are in the set-up.
    fields |= {option.name: option.value for option in env.options if not option.at_start}
    fields |= {word: setup[word] for word in env.setup_words if setup.get(word)}
    return urlencode(fields)


def open_link(text: object, bases: Mapping[str, GameEnv]) -> Position:
    """Return the position of a link; raise ValueError or IllegalMove for any other text.

    A link has the game, its options, its set-up and the moves, see `linkHere` of game_tree.js.

    Args:
        bases: as in `start_from`.
    """
    if not isinstance(text, str):
        raise ValueError(f"a link must be a text, got {shown(text)}")
    fields = dict(parse_qsl(text.lstrip("#")))
    if "game" not in fields:
        raise ValueError(f"a link must name a game, got {shown(text)}")
    name, moves = fields.pop("game"), fields.pop("moves", "")
    setup = {word: fields.pop(word) for word in usual_game(name, bases).setup_words if word in fields}
    start = start_from({"name": name, "options": fields, "setup": setup}, bases)
    return after_words(start, moves.split(".") if moves else ())


def after_words(position: Position, words: Sequence[str]) -> Position:
    """Return the position after the moves of a link."""
    mover = 0  # who plays the next move, +1 or -1; 0 for the side to move
    for word in words:
        if word == SKIPPED_TURN and position.env.skips_turns:
            mover = -position.to_play
            continue
        ready = position.give_turn(mover) if mover else position
        position, mover = ready.play(word), 0
    return position


# --- with variations -------------------------------------------------------------------------------


class GameTree:
    """The positions of a game and its variations, as numbered nodes; `view` is the whole as plain data for the page.

    Args:
        start: the first position.
        names: the players' names, "" for unknown ones.

    Attributes:
        nodes: of the positions in order, each after its parent, as the page has them: `parent`, -1 for the root; `move`
            and `mover`, who plays it, +1 or -1; and where they are known `comment`, `win`, Black's chance, `score`,
            Black's margin in points, `visits` of the search that found them, `loser`, who has resigned here, +1 or -1,
            and `inFile`, the number of the node in the file that was opened.
    """

    def __init__(self, start: Position, names: tuple[str, str] = ("", "")) -> None:
        self.start = start
        self.env: Any = start.env
        self.nodes: list[dict[str, Any]] = [{"parent": -1}]
        self.positions = [start]
        self.view: dict[str, Any] = {"names": list(names), "nodes": self.nodes, "end": 0}
        # These are set for a game from an SGF file: its text; the result that it states, which holds at the end of its
        # main line; who resigns there, +1 or -1; and sentences about the file for the person who opened it.
        self.view |= {"file": "", "stated": "", "fileLoser": 0, "remarks": []}
        self._numbers: dict[tuple[int, int, int], int] = {}  # of a node by its parent, action and mover

    def play(self, parent: int, action: int | str, mover: int = 0) -> int:
        """Play a move at a node, and return the number of the next one, which is new if the move was not tried before.

        Args:
            mover: who plays the move, see `Position.give_turn`; 0 for the side to move.

        Raises:
            IllegalMove: for an illegal move.
            ValueError: if the tree is full.
        """
        before = self.positions[parent]
        position = before.give_turn(mover) if mover else before
        action = position.check_action(action)
        key = (parent, action, position.to_play)
        if key not in self._numbers:
            if len(self.nodes) >= MOST_NODES:
                raise ValueError(
                    f"a game with its variations must have at most {MOST_NODES} positions: begin a new one"
                )
            self.positions.append(position.play(action))
            self._numbers[key] = len(self.nodes)
            self.nodes.append({"parent": parent, "move": self.env.to_text(action), "mover": position.to_play})
        return self._numbers[key]


def line_tree(position: Position) -> GameTree:
    """Return the moves that led to a position as a tree without variations."""
    start, *_ = position.replay()
    tree = GameTree(start)
    for mover, action in zip(position.movers, position.moves, strict=True):
        tree.view["end"] = tree.play(tree.view["end"], action, mover)
    return tree

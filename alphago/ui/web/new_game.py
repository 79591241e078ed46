"""The games that pages ask for: by their options, by a link, or as an answer has named them before.

`GameTree` is a game with its variations, as files and runs have it; the page keeps it, and sends it back to be saved.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

from alphago.env.game import GameEnv
from alphago.env.games import GAMES, make_game
from alphago.env.position import Position
from alphago.system.validation import near_misses, shown

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


def make_chosen_game(name: Any, options: Any, bases: Mapping[str, GameEnv], setup: Any = None) -> GameEnv:
    """Return a game by its name and options.

    Args:
        options: values by the names of `GameEnv.options`.  An option that is left out, None or "" has its usual value.
        bases: games by name, whose options are the usual values; for other games these are the package's defaults.
        setup: as in `make_start`.  Options of the start that it has, such as a handicap, bring values of other options
            (`Option.also`), such as a komi of 0.5; `options` may replace these.

    Raises:
        ValueError: for impossible options.
    """
    base = usual_game(str(name), bases)
    if not isinstance(options, Mapping):
        raise ValueError(f"options must be an object, got {shown(options)}")
    known = {option.name: option for option in base.options if not option.at_start}
    names_at_start = chosen_at_start(base, setup).keys()
    chosen: dict[str, Any] = {}
    for option in base.options:
        if option.name in names_at_start:
            chosen |= option.also
    for key, value in options.items():
        if value in (None, ""):
            continue
        if key not in known:
            raise ValueError(f"{base.name} has no option {key!r}: {near_misses(str(key), list(known))}")
        chosen[str(key)] = known[key].read(value)
    try:  # a base has no limits that only help self-play; a game that is made anew has its defaults
        env = base.choose(**chosen).match_variant() if chosen else base
    except TypeError as error:  # from a game of one's own
        raise ValueError(f"{base.name} cannot be played so: {error}") from None
    return check_board(env)


def check_board(env: GameEnv) -> GameEnv:
    """Return the game; raise ValueError if its board is larger than a page may ask for."""
    if env.plane_shape[0] * env.plane_shape[1] > MOST_POINTS:
        raise ValueError(f"a board must have at most {MOST_POINTS} points, got {env}")
    return env


def make_start(env: GameEnv, setup: object) -> Position:
    """Return the first position of a game; raise ValueError for an impossible set-up.

    Args:
        setup: values by name: either of the game's options `at_start`, such as a handicap in Go, or of its
            `setup_words`, such as stones.  If there are such options, all words are ignored.  Names that the game does
            not have are ignored.
    """
    if not isinstance(setup, Mapping):
        raise ValueError(f"setup must be an object, got {shown(setup)}")
    chosen = chosen_at_start(env, setup)
    if chosen:
        return env.position(**chosen)
    return env.position(**{word: str(setup[word]) for word in env.setup_words if setup.get(word)})


def chosen_at_start(env: GameEnv, setup: object) -> dict[str, Any]:
    """Return the values of the game's options `at_start` in a set-up (see `make_start`), without those that are 0."""
    given = setup if isinstance(setup, Mapping) else {}
    options = [option for option in env.options if option.at_start and given.get(option.name)]
    values = {option.name: option.read(given[option.name]) for option in options}
    return {name: value for name, value in values.items() if value}  # without the text "0", which was read as 0


# --- as answers name a game ------------------------------------------------------------------------


def describe_start(start: Position) -> dict[str, Any]:
    """Return what names a game and its first position in the queries of a page, as plain data for `start_from`."""
    words = {word: start.setup[word] for word in start.env.setup_words if start.setup.get(word)}
    return {"name": start.env.name, "config": dict(start.env.config), "setup": words}


def start_from(game: object, bases: Mapping[str, GameEnv]) -> Position:
    """Return the first position of the game that `describe_start` has described; raise ValueError for anything else."""
    if not isinstance(game, Mapping) or not isinstance(game.get("config", {}), Mapping):
        raise ValueError(f"game must be an object with a name, a config and a setup, got {shown(game)}")
    base = usual_game(str(game.get("name")), bases)
    try:
        env = base.replace(**game.get("config", {}))
    except TypeError as error:
        raise ValueError(f"{base.name} cannot be played so: {error}") from None
    return make_start(check_board(base if env == base else env), game.get("setup", {}))


def list_field(given: Mapping[str, Any], name: str) -> list[Any]:
    """Return a field that is a list, by default an empty one; raise ValueError for others."""
    value = given.get(name, [])
    if not isinstance(value, list):
        raise ValueError(f"{name} must be a list, got {shown(value)}")
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
        bases: as in `make_chosen_game`.
    """
    if not isinstance(text, str):
        raise ValueError(f"a link must be a text, got {shown(text)}")
    fields = dict(parse_qsl(text.lstrip("#")))
    if "game" not in fields:
        raise ValueError(f"a link must name a game, got {shown(text)}")
    name, moves = fields.pop("game"), fields.pop("moves", "")
    setup = {word: fields.pop(word) for word in usual_game(name, bases).setup_words if word in fields}
    env = make_chosen_game(name, fields, bases)
    return after_words(make_start(env, setup), moves.split(".") if moves else ())


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

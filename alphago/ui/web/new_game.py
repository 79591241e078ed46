"""The games that pages ask for: by their options, by a link, or by the description in an earlier answer.

`GameTree` is a game with its variations, made from a file or a run.  The page keeps it, and sends it back to be saved.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Self, TypeVar
from urllib.parse import parse_qsl, urlencode

from alphago.env.game import GameEnv
from alphago.env.games import GAMES, make_game
from alphago.env.position import Position
from alphago.system.validation import near_misses, shown

T = TypeVar("T", list[Any], dict[str, Any])
MOST_POINTS = 25 * 25  # most points of a board
MOST_PLANES, MOST_PLIES = 1000, 2**16  # of a game, whose positions take as much memory
MOST_NODES = 4000  # most positions of a game with its variations
SKIPPED_TURN = "_"  # stands before a move out of turn among the moves of a link


def usual_game(name: str, usual_games: Mapping[str, GameEnv]) -> GameEnv:
    """Return the game `name` with its usual options: from `usual_games`, or else the package's.

    Raises:
        ValueError: if there is no such game.
    """
    if name in usual_games:
        return usual_games[name]
    if name not in GAMES:
        raise ValueError(f"there is no game {shown(name)}: {near_misses(str(name), list(GAMES))}")
    return make_game(name).match_variant()


def describe_start(start: Position) -> dict[str, Any]:
    """Return a game and its first position as plain data, which a page sends in its queries and `start_from` reads."""
    env, setup = start.env, start.setup
    config = {name: setup.get(name, value) for name, value in env.config.items()}  # the set-up may have another komi
    words = {word: setup[word] for word in env.setup_words if word in setup}  # what is set up in words, such as stones
    return {"name": env.name, "config": config, "setup": words}


def start_from(game: Mapping[str, Any], usual_games: Mapping[str, GameEnv]) -> Position:
    """Return the first position of a game.

    Args:
        game: its fields are "name", "config" (arguments of the game's constructor), "options" (by the names of
            `GameEnv.options`; None or "" for the usual value) and "setup".  The set-up has options that are `at_start`,
            such as a handicap in Go, or the game's `setup_words`, such as stones.  If it has both, the words are
            ignored.  Names in the set-up that the game does not have are ignored too.
        usual_games: games by name, with the usual values of their options.  Games that are not listed have the
            package's defaults.

    Raises:
        ValueError: for an impossible game.
    """
    base = usual_game(str(game.get("name")), usual_games)
    config, options, setup = (field_of(game, name, dict) for name in ("config", "options", "setup"))
    start_values = values_at_start(base, setup)
    chosen = chosen_options(base, options, set_at_start=start_values.keys())
    try:
        env = base.replace(**config)
        if chosen:
            env = env.choose(**chosen)
            # If `base` has no limits that only help self-play, `choose` may bring them back.  The game of a notebook,
            # which its caller has chosen, keeps them.
            env = env.match_variant() if base == base.match_variant() else env
    except TypeError as error:  # from the constructor of a user's own game
        raise ValueError(f"{base.name} cannot be played so: {error}") from None
    if env.plane_shape[0] * env.plane_shape[1] > MOST_POINTS:
        raise ValueError(f"a board must have at most {MOST_POINTS} points, got {env}")
    if env.planes > MOST_PLANES or env.max_moves > MOST_PLIES:
        raise ValueError(f"a game must have at most {MOST_PLANES} planes and {MOST_PLIES} plies, got {env}")
    env = base if env == base else env  # `base` has made its tables already
    words = {word: str(setup[word]) for word in env.setup_words if setup.get(word)}
    return env.position(**(start_values or words))


def values_at_start(base: GameEnv, setup: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of options `at_start` in a set-up, by name; 0 stands for no value, and is left out."""
    options = [option for option in base.options if option.at_start and setup.get(option.name)]
    # The text "0" is read as 0.
    return {option.name: value for option in options if (value := option.read(setup[option.name]))}


def chosen_options(base: GameEnv, options: Mapping[str, Any], set_at_start: Collection[str]) -> dict[str, Any]:
    """Return the options of a new game by name, as `GameEnv.choose` takes them.

    Options of the start (`Option.at_start`), such as a handicap, belong to the position, and are not among them.  But
    what such an option brings along (`Option.also`), such as a komi of 0.5, is among them, unless `options` gives it.

    Args:
        options: see `start_from`.
        set_at_start: the names of the options of the start that have a value.

    Raises:
        ValueError: for an option that the game does not have, or for a wrong value.
    """
    chosen: dict[str, Any] = {}
    for option in base.options:
        if option.name in set_at_start:
            chosen |= option.also
    known = {option.name: option for option in base.options if not option.at_start}
    for name, value in options.items():
        if value in (None, ""):
            continue
        if name not in known:
            raise ValueError(f"{base.name} has no option {name!r}: {near_misses(name, list(known))}")
        chosen[name] = known[name].read(value)
    return chosen


def field_of(given: Mapping[str, Any], name: str, kind: type[T]) -> T:
    """Return a field that must be of type `kind`, a list or a dict; an empty one if the field is missing.

    Raises:
        ValueError: for a value of another type.
    """
    value = given.get(name, kind())
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be {'a list' if kind is list else 'an object'}, got {shown(value)}")
    return value


# --- links -----------------------------------------------------------------------------------------


def link_head(start: Position) -> str:
    """Return the part of a link that names a game, its options and its set-up; a page adds the moves."""
    env, setup = start.env, start.setup
    fields = {"game": env.name}
    # Options at the start, such as a handicap, are left out: their stones are in the set-up's words.
    fields |= {option.name: option.value for option in env.options if not option.at_start}
    fields |= {word: setup[word] for word in env.setup_words if setup.get(word)}
    return urlencode(fields)


def open_link(text: object, usual_games: Mapping[str, GameEnv]) -> Position:
    """Return the position of a link; raise ValueError or IllegalMove for any other text.

    A link has the game, its options, its set-up and the moves, see `linkHere` of game_tree.js.

    Args:
        usual_games: games by name, with the usual values of their options.
    """
    if not isinstance(text, str):
        raise ValueError(f"a link must be a text, got {shown(text)}")
    fields = dict(parse_qsl(text.lstrip("#")))
    if "game" not in fields:
        raise ValueError(f"a link must name a game, got {shown(text)}")
    name, moves = fields.pop("game"), fields.pop("moves", "")
    setup = {word: fields.pop(word) for word in usual_game(name, usual_games).setup_words if word in fields}
    start = start_from({"name": name, "options": fields, "setup": setup}, usual_games)
    return after_words(start, moves.split(".") if moves else ())


def after_words(position: Position, words: Sequence[str]) -> Position:
    """Return the position after the moves of a link.

    Args:
        words: the moves as texts; SKIPPED_TURN stands before a move out of turn.
    """
    mover = 0  # who plays the next move, +1 or -1; 0 for the side to move
    for word in words:
        if word == SKIPPED_TURN and position.env.skips_turns:
            mover = -position.to_play
            continue
        before = position.give_turn(mover) if mover else position
        position, mover = before.play(word), 0
    return position


# --- with variations -------------------------------------------------------------------------------


class FullTree(ValueError):
    """A game with its variations has more positions than MOST_NODES."""


class GameTree:
    """The positions of a game and its variations, as numbered nodes; `view` is the whole as plain data for the page.

    Args:
        start: the first position.
        names: the players' names, "" for unknown ones.

    Attributes:
        nodes: a dict for each position, each after its parent.  All have `parent`, the parent's number, -1 for the
            root, and all but the root `move` and `mover` (who plays it, +1 or -1).  They may also have `comment`; `win`
            (Black's win rate), `score` (Black's lead in points) and `visits` of a search; `loser` (who has resigned
            here, +1 or -1); and `inFile` (the node's number in the file that was opened).
    """

    def __init__(self, start: Position, names: tuple[str, str] = ("", "")) -> None:
        self.start = start
        self.env: Any = start.env
        self.nodes: list[dict[str, Any]] = [{"parent": -1}]
        self.positions = [start]
        # "end": the number of the last node on the line that the page shows.
        self.view: dict[str, Any] = {"names": list(names), "nodes": self.nodes, "end": 0}
        # These are set for a game from an SGF file: its text; the result that it states, which holds at the end of its
        # main line; who resigns there, +1 or -1; and sentences about the file for the person who opened it.
        self.view |= {"file": "", "stated": "", "fileLoser": 0, "remarks": []}
        self._numbers: dict[tuple[int, int, int], int] = {}  # of a node by its parent, action and mover

    def play(self, parent: int, action: int | str, mover: int = 0) -> int:
        """Play a move at a node, and return the number of the node after it.

        It is a new node if the move was not played there before.

        Args:
            parent: the number of the node at which the move is played.
            mover: who plays the move, see `Position.give_turn`; 0 for the side to move.

        Raises:
            IllegalMove: for an illegal move.
            FullTree: if the tree is full.
            ValueError: if it is not the mover's turn, in a game that skips no turns.
        """
        before = self.positions[parent]
        position = before.give_turn(mover) if mover else before
        action = position.check_action(action)
        key = (parent, action, position.to_play)
        if key in self._numbers:
            return self._numbers[key]
        if len(self.nodes) >= MOST_NODES:
            raise FullTree(f"a game with its variations must have at most {MOST_NODES} positions: begin a new one")
        self.positions.append(position.play(action))
        self._numbers[key] = len(self.nodes)
        self.nodes.append({"parent": parent, "move": self.env.to_text(action), "mover": position.to_play})
        return self._numbers[key]

    @classmethod
    def leading_to(cls, position: Position) -> Self:
        """Return the moves that led to a position as a tree without variations."""
        start, *_ = position.replay()
        tree, last = cls(start), 0
        for mover, action in zip(position.movers, position.moves, strict=True):
            last = tree.play(last, action, mover)
        tree.view["end"] = last  # the page shows the line up to this node
        return tree

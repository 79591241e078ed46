"""The contract of a game.

`GameEnv` describes a game, `GameBatch` holds many of its positions for search, `Position` is one readable position.
A game in plain Python defines `GameEnv.new()`, which returns one mutable state (see `PlainState`); search, training,
play and evaluation then work.  A fast game overrides `new_batch`.

There are two players: +1 moves first (Black in Go), -1 second.  They need not alternate.  Values of states and batches
are from the view of the player about to move; values of a `Position` are from the view of the first player.
"""

from collections.abc import Mapping
from copy import deepcopy
from functools import cached_property
from typing import Any, Self

import numpy as np

from alphago.drawing.board_view import SIDES, BoardView
from alphago.env import symmetry
from alphago.env.batch import FIRST_SLOT, GameBatch
from alphago.env.game_options import HIDDEN, Option, to_option
from alphago.env.other_names import GAME_NAMES, add_name_hints
from alphago.env.plain_batch import PlainBatch, PlainState
from alphago.env.position import Position
from alphago.env.symmetry import Symmetries
from alphago.system.validation import check_keywords, list_keywords, shown, takes_any_keyword

PLAYER_NAMES = {1: SIDES[0], -1: SIDES[1]}


class GameEnv:
    """The description of a game: sizes, names of moves, start positions.

    It is immutable; two games are equal if they have the same class and the same `config`.
    """

    name: str  # "go"
    N: int  # points along a side of the board
    planes: int  # number of planes that a network receives
    plane_shape: tuple[int, int]  # (height, width) of a plane
    action_space: int  # actions are 0 .. action_space - 1; a pass is the last
    max_moves: int  # most plies of a game
    pass_action: int | None = None  # the action that passes, in games that have one
    actions_are_points = False  # whether action i is point i of a plane, row by row; a pass or others may follow
    cuts_games = False  # whether max_moves ends games that would go on by the game's rules
    skips_turns = False  # whether the turn of a side may be skipped, though sides alternate (`Position.give_turn`)
    has_ownership = False  # whether points belong to a player at the end; if so, batches fill `ownership`
    has_captures = False  # whether stones are captured; if so, positions have a `board` [N, N] of 1, -1 and 0
    has_sgf = False  # whether games are saved as SGF files instead of records
    has_decisive_moves = False  # whether batches find moves that win at once, see SearchSettings.decisive_moves
    has_device_kernels = False  # whether `new_batch` accepts devices other than "cpu"
    selfplay_options: frozenset[str] = frozenset()  # the names of options in `config` that matter in self-play only
    setup_words: tuple[str, ...] = ()  # keywords of `position` that describe a set-up as text, which links keep

    @cached_property  # so that a game may also define it as an attribute
    def config(self) -> dict[str, Any]:
        """The keyword arguments that construct this game, as JSON data; saved with networks and runs."""
        raise NotImplementedError(f"{type(self).__name__} must have a config, the arguments that make it again")

    @property
    def rule_options(self) -> dict[str, Any]:
        """The part of `config` that concerns the rules, without the options of the network's input and of self-play."""
        left_out = {"planes", *self.selfplay_options}
        return {name: value for name, value in self.config.items() if name not in left_out}

    @property
    def summary(self) -> str:
        """A short text about the game, for the results of matches."""
        return str(self)

    @classmethod
    def from_saved(cls, config: Mapping[str, Any]) -> Self:
        """Return the game of a network that was saved with this `config`; a damaged config may raise any exception.

        A game may override this and leave out its `selfplay_options`, as Go does.  Then a network that was trained
        with such options plays the game without them.
        """
        return cls(**config)

    @cached_property
    def symmetries(self) -> Symmetries:
        """The rotations and reflections of the board under which the rules stay the same."""
        return symmetry.identity(self.plane_shape[0] * self.plane_shape[1], self.action_space)

    def new_batch(self, count: int, device: str = "cpu") -> GameBatch:
        """Return a batch of `count` slots, each at the start position.

        Args:
            device: "cpu"; for a game that `has_device_kernels` also "cuda" and "host", see `alphago.env.devices`.

        Raises:
            ValueError: for any other device.
            BackendMissing: if the device cannot be used.
            MemoryError: if the device's memory is full.
        """
        self.require_cpu(device)
        return PlainBatch(self, count)

    def require_cpu(self, device: str) -> None:
        """Raise ValueError unless `device` is "cpu"; called by games without kernels for other devices."""
        if device != "cpu":
            raise ValueError(f"device must be 'cpu' or 'auto' for {self}, which has no CUDA kernels, got {device!r}")

    def new(self, **setup: object) -> "PlainState":
        """Return a start position as a plain Python state; required unless `new_batch` is overridden.

        Args:
            setup: the game's own keywords for a set-up position, if it has any.
        """
        raise NotImplementedError(f"{type(self).__name__} defines neither new() nor new_batch()")

    def accepts(self, other: "GameEnv") -> bool:
        """Return whether this game's batches can hold positions of the game `other`.

        By default the two games must be equal; Go also accepts a game with another komi.
        """
        return self == other

    def covers(self, position: Position) -> bool:
        """Return whether a number measured in this game, such as a resignation threshold, is valid in a position.

        By default it is valid in the positions of even games (`Position.is_even`) that this game `accepts`.
        """
        return position.is_even and self.accepts(position.env)

    def replace(self, **options: object) -> Self:
        """Return the same game with other values of some options of its `config`."""
        return type(self)(**{**self.config, **options})

    def resized(self, size: int) -> "GameEnv":
        """Return the same game on a board of another size; raise ValueError if the game has no such board."""
        if "board_size" not in self.config:
            raise ValueError(f"{self} has only one board size, got {size}")
        return self.replace(board_size=size)

    def position(self, **setup: object) -> Position:
        """Return the start position, or a set-up position.

        Args:
            setup: the keywords of `GameBatch.reset`, or of `new` in a game in plain Python; none for the start
                position.

        Raises:
            TypeError: for an unknown keyword.
        """
        batch = self.new_batch(1)
        self._check_setup_keywords(batch, setup)
        batch.reset(FIRST_SLOT, **setup)
        # A copy that the caller cannot change; arrays become lists, which can be written as text and compared.
        as_lists = {
            name: value.tolist() if hasattr(value, "tolist") else deepcopy(value) for name, value in setup.items()
        }
        return self.make_position(batch, as_lists)

    def _check_setup_keywords(self, batch: GameBatch, setup: Mapping[str, object]) -> None:
        """Raise TypeError, which suggests similar keywords, for a keyword that describes no set-up of this game."""
        # The function whose keywords describe the set-up; a PlainBatch passes all keywords of `reset` on to `new`.
        setup_function = self.new if isinstance(batch, PlainBatch) else batch.reset
        if not takes_any_keyword(setup_function):  # a function that takes any keyword checks the keywords itself
            # With the keywords of a subclass's own `position`, such as `history`, which the message may suggest.
            known = [*list_keywords(self.position), *list_keywords(setup_function)]
            allowed = [name for name in known if name != "slots"]  # an argument of `reset` that describes no position
            check_keywords(f"{type(self).__name__}.position", setup, allowed)

    def position_of(self, batch: GameBatch, slot: int) -> Position:
        """Return the position in a slot, without the moves that led to it."""
        return self.make_position(batch.extract(slot), {})

    def make_position(self, batch: GameBatch, setup: Mapping[str, Any]) -> Position:
        """Return the only position in `batch` as a Position.

        Games that can be drawn override this to return a subclass; `alphago.env.board.StonesPosition` draws any game
        with stones.

        Args:
            setup: the keywords of `position` with which the game began.
        """
        return Position(self, batch, setup)

    # --- in self-play and in matches ---

    def selfplay_variant(self) -> Self:
        """Return the game that self-play plays to learn this one: this game, or a variant that is learned faster."""
        return self

    def match_variant(self) -> Self:
        """Return the game to play in matches: this game without options that only help self-play."""
        return self

    def player_view(self) -> Self:
        """Return the game that a player's search uses in a match of this one: by default this game itself."""
        return self

    def random_setup(self, generator: np.random.Generator) -> dict[str, Any]:
        """Return a random set-up for a game of self-play, as keywords of `GameBatch.reset` and `GameEnv.position`."""
        return {}

    @cached_property
    def opening_actions(self) -> np.ndarray:
        """The actions from which random openings choose: bool [action_space]; an opening uses those that are legal."""
        return np.ones(self.action_space, np.bool_)

    # --- for people ---

    @cached_property
    def title(self) -> str:
        """The name of the game, such as "Connect Four"."""
        return self.name

    @property
    def title_and_size(self) -> str:
        """The title, and in games with boards of several sizes the size, such as "Go 9x9"."""
        return f"{self.title} {self.N}x{self.N}" if "board_size" in self.config else self.title

    @cached_property
    def board_view(self) -> BoardView:
        """How the board looks, and where each action's piece lands, for pictures and pages."""
        return BoardView(self.title_and_size)

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """What a person may choose for a new game."""
        return tuple(to_option(name, value) for name, value in self.config.items() if name not in HIDDEN)

    def choose(self, **chosen: object) -> Self:
        """Return the same game with other values of some `options`, each as `Option.read` returns it."""
        return self.replace(**chosen)

    def to_text(self, action: int) -> str:
        """Return the text of an action, one word such as 'D4'."""
        return str(action)

    def from_text(self, text: str) -> int:
        """Return the action that a text names; raise ValueError if it names none."""
        # No action has ten digits; Python refuses to read thousands of them.
        if text.isdecimal() and len(text) < 10 and int(text) < self.action_space:
            return int(text)
        raise ValueError(f"{shown(text)} is not a move of {self}: expected a number from 0 to {self.action_space - 1}")

    def __repr__(self) -> str:
        arguments = [f"{name}={value!r}" for name, value in self.config.items()]
        return f"{type(self).__name__}({', '.join(arguments)})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.config == other.config

    def __hash__(self) -> int:
        return hash((type(self), *self.config))  # without the values, which may be lists


add_name_hints(GameEnv, GAME_NAMES)


def check_env(env: object, name: str = "env") -> None:
    """Raise TypeError for anything that is not a game; name: what the message calls it."""
    if isinstance(env, type) and issubclass(env, GameEnv):
        raise TypeError(f"{name} must be a game, such as {env.__name__}(), got the class {env.__name__}")
    if not isinstance(env, GameEnv):
        raise TypeError(f"{name} must be a game, such as GoEnv(9), got {shown(env)}")

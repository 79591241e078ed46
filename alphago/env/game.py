"""The contract of a game.

`GameEnv` describes a game, `GameBatch` holds many of its positions for search, `Position` is one readable position.
A game in plain Python defines `GameEnv.new()`, which returns one mutable state (see `PlainState`); search, training,
play and evaluation then work.  A fast game overrides `new_batch`.

There are two players: +1 moves first (Black in Go), -1 second.  They need not alternate.  Values of states and batches
are from the view of the player about to move; values of a `Position` are from the view of the first player.
"""

import hashlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from itertools import accumulate
from typing import Any, Self

import numpy as np

from alphago.env import symmetry
from alphago.env.board_view import SIDES, BoardView
from alphago.env.leaves import Leaves, Reached
from alphago.env.options import HIDDEN, Option, option_of
from alphago.env.pictured import Pictured
from alphago.env.plain_state import PlainState
from alphago.env.symmetry import Symmetries
from alphago.system.validation import check_keywords, keywords_of, shown, takes_any_keyword

_FIRST = np.zeros(1, np.int64)  # the only slot of a batch of one

PLAYER_NAMES = {1: SIDES[0], -1: SIDES[1]}


class IllegalMove(ValueError):
    """An action is not legal in a position; the message has the move, the reason and the position."""


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
    actions_are_points = False  # whether action i is point i of a plane, row by row; a pass may follow
    fixed_length = False  # whether every game has exactly max_moves plies
    cuts_games = False  # whether games end at max_moves that the game's rules alone would not end
    has_ownership = False  # whether points belong to a player at the end; if so, batches fill `ownership`
    has_captures = False  # whether stones are captured; if so, positions have a `board` [N, N] of 1, -1 and 0
    has_sgf = False  # whether games are saved as SGF files instead of records
    has_decisive_moves = False  # whether batches find moves that win at once, see SearchSettings.decisive_moves
    has_device_kernels = False  # whether `new_batch` accepts devices other than "cpu"

    @cached_property  # so that a game may also define it as an attribute
    def config(self) -> dict[str, Any]:
        """The keyword arguments that construct this game, as JSON data; saved with networks and runs."""
        raise NotImplementedError(f"{type(self).__name__} must have a config, the arguments that make it again")

    @property
    def rule_options(self) -> dict[str, Any]:
        """The part of `config` that concerns the rules, without the options of the network's input and of training."""
        return {name: value for name, value in self.config.items() if name != "planes"}

    @property
    def title(self) -> str:
        """The name of the game for people, such as "Connect Four"."""
        return self.name

    @cached_property
    def board_view(self) -> BoardView:
        """How the board looks, and where each action's piece lands, for pictures and pages."""
        return BoardView(self.title_and_size)

    @property
    def title_and_size(self) -> str:
        """The title, and in games with boards of several sizes the size, such as "Go 9x9"."""
        return f"{self.title} {self.N}x{self.N}" if "board_size" in self.config else self.title

    @property
    def options(self) -> tuple[Option, ...]:
        """What a person may choose for a new game."""
        return tuple(option_of(name, value) for name, value in self.config.items() if name not in HIDDEN)

    # Keywords of `position` that describe a set-up as text, which links keep.
    setup_words: tuple[str, ...] = ()

    def choose(self, **chosen: Any) -> Self:
        """Return the same game with other values of some `options`, each as `Option.read` returns it."""
        return self.replace(**chosen)

    @property
    def summary(self) -> str:
        """A short text about the game, for the results of matches."""
        return str(self)

    @classmethod
    def from_saved(cls, config: Mapping[str, Any]) -> Self:
        """Return the game of a network that was saved with this `config`.

        A game may drop options that only matter in training (Go does). A damaged `config` may raise any exception.
        """
        return cls(**config)

    @property
    def usual_length(self) -> float:
        """The number of plies of a typical self-play game: an estimate for use until a run has measured it."""
        return self.max_moves if self.fixed_length else 0.7 * self.max_moves

    @cached_property
    def symmetries(self) -> Symmetries:
        """The rotations and reflections of the board under which the rules stay the same."""
        return symmetry.identity(self.plane_shape[0] * self.plane_shape[1], self.action_space)

    @cached_property
    def opening_actions(self) -> np.ndarray:
        """The actions from which random openings choose: bool [action_space]; an opening uses those that are legal."""
        return np.ones(self.action_space, np.bool_)

    def new_batch(self, count: int, device: str = "cpu") -> "GameBatch":
        """Return a batch of `count` slots, each at the start position.

        device: "cpu"; for a game that `has_device_kernels` also "cuda" and "host", see `alphago.env.devices`.
        Raises ValueError for any other device, BackendMissing if the device cannot be used, MemoryError if its memory
        is full.
        """
        self.require_cpu(device)
        return PlainBatch(self, count)

    def require_cpu(self, device: str) -> None:
        """Raise ValueError unless `device` is "cpu"; called by games without kernels for other devices."""
        if device != "cpu":
            raise ValueError(f"device must be 'cpu' or 'auto' for {self}, which has no CUDA kernels, got {device!r}")

    def new(self, **setup: Any) -> "PlainState":
        """Return a start position as a plain Python state; required unless `new_batch` is overridden.

        setup: the game's own keywords for a set-up position, if it has any.
        """
        raise NotImplementedError(f"{type(self).__name__} defines neither new() nor new_batch()")

    def accepts(self, other: "GameEnv") -> bool:
        """Return whether this game's batches can hold positions of the game `other`.

        By default the two games must be equal; Go also accepts a game with another komi.
        """
        return self == other

    def training_variant(self) -> "GameEnv":
        """Return the game that self-play uses to learn this game: this game, or a variant that is learned faster."""
        return self

    def match_variant(self) -> Self:
        """Return the game to play in matches: this one without options that only help self-play."""
        return self

    def player_view(self) -> Self:
        """Return the game that a player's search uses in a match of this game: by default this game itself.

        In Go with fixed turns it is a variant in which a pass is legal only if there is no other move.
        """
        return self

    def replace(self, **options: Any) -> Self:
        """Return the same game with other values of some options of its `config`."""
        return type(self)(**{**self.config, **options})

    def resized(self, size: int) -> "GameEnv":
        """Return the same game on a board of another size; raise ValueError if the game has no such board."""
        raise ValueError(f"{self} has only one board size, got {size}")

    def random_setup(self, generator: np.random.Generator) -> dict[str, Any]:
        """Return a random set-up for a self-play game, as keywords of `GameBatch.reset` and `position`."""
        return {}

    def position(self, **setup: Any) -> "Position":
        """Return the start position, or a set-up position.

        setup: the keywords of `GameBatch.reset`, or of `new` in a game in plain Python; none for the start position.
        Raises TypeError for an unknown keyword.
        """
        batch = self.new_batch(1)
        taker = self.new if isinstance(batch, PlainBatch) else batch.reset
        if not takes_any_keyword(taker):
            known = [name for call in (self.position, taker) for name in keywords_of(call) if name != "slots"]
            check_keywords(f"{type(self).__name__}.position", setup, known)
        batch.reset(np.zeros(1, np.int64), **setup)
        plain = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in setup.items()}
        return self.make_position(batch, plain)

    def position_of(self, batch: "GameBatch", slot: int) -> "Position":
        """Return the position in a slot, without the moves that led to it."""
        return self.make_position(batch.extract(slot), {})

    def make_position(self, batch: "GameBatch", setup: Mapping[str, Any]) -> "Position":
        """Return the only position in `batch` as a Position.

        Games that can be drawn override this to return a subclass; `alphago.env.board.StonesPosition` draws any game
        with stones.

        setup: the keywords of `position` with which the game began.
        """
        return Position(self, batch, setup)

    def to_text(self, action: int) -> str:
        """Return the text of an action, such as 'D4'."""
        return str(action)

    def from_text(self, text: str) -> int:
        """Return the action that a text names; raise ValueError if it names none."""
        if text.isdecimal() and int(text) < self.action_space:
            return int(text)
        raise ValueError(f"{shown(text)} is not a move of {self}: expected a number from 0 to {self.action_space - 1}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.config.items())})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.config == other.config

    def __hash__(self) -> int:
        return hash((type(self), *self.config.items()))


def check_env(env: Any) -> None:
    """Raise TypeError for anything that is not a game."""
    if not isinstance(env, GameEnv):
        raise TypeError(f"env must be a game, such as GoEnv(9), got {env!r}")


class GameBatch(ABC):
    """Many positions of one game, in numbered slots.

    Every method takes an int64 array of slots [n].  Methods that answer a question write into `out`, whose first axis
    is n, and return it.  The mover is the player to move.  Different threads may use different slots at the same time.
    Actions are not checked: play only those in `legal_mask`.
    """

    device = "cpu"  # where the positions are: "cpu", "cuda" or "host"

    def __init__(self, env: GameEnv, count: int) -> None:
        self.env = env
        self.count = count

    @abstractmethod
    def reset(self, slots: np.ndarray, **setup: Any) -> None:
        """Set all slots to the start position, or to the one that `setup` describes (Go: komi, stones, to_play)."""

    @abstractmethod
    def copy(self, sources: np.ndarray, targets: np.ndarray, of: "GameBatch | None" = None) -> None:
        """Copy positions from the slots `sources` to the slots `targets` of this batch.

        of: the batch with the sources, of the same game; None for this batch.
        """

    def gather(self, batches: Sequence["GameBatch"]) -> None:
        """Copy the only position of each of these batches, of the same game, to the slots 0, 1, 2, …"""
        for slot, batch in enumerate(batches):
            self.copy(_FIRST, np.array([slot]), of=batch)

    def extract(self, slot: int) -> "GameBatch":
        """Return a new batch whose only slot is a copy of this slot."""
        alone = self.env.new_batch(1)
        alone.copy(np.array([slot]), _FIRST, of=self)
        return alone

    @abstractmethod
    def play(self, slots: np.ndarray, actions: np.ndarray) -> None:
        """Play one legal action (int32 [n]) in each slot."""

    def replay(self, roots: np.ndarray, paths: np.ndarray, lengths: np.ndarray, targets: np.ndarray) -> None:
        """Copy each root slot to its target slot and play the actions `paths[i, :lengths[i]]` there.

        paths: int32 [n, depth]. lengths: int32 [n].
        """
        self.copy(roots, targets)
        for ply in range(int(lengths.max(initial=0))):
            going = lengths > ply
            self.play(targets[going], np.ascontiguousarray(paths[going, ply]))

    def reach(self, leaves: Leaves, out: Reached) -> Reached:
        """Play each leaf's actions as `replay` does, and write its state to `out`.

        The state is `is_over`, `to_play` and, for finished games, `outcome`.
        """
        self.replay(*leaves)
        self.to_play(leaves.slots, out.movers)
        over = self.is_over(leaves.slots, out.over)
        if np.count_nonzero(over):  # several times as fast as `over.any()`
            ended = leaves.slots[over]
            out.outcomes[over] = self.outcome(ended, np.empty(len(ended), np.float32))
        return out

    @abstractmethod
    def legal_mask(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the legal actions, bool [n, action_space]; all False once the game is over."""

    def decisive_moves(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write for each slot a legal action after which the game is over and won by the mover, or -1, int32 [n].

        Called only for games that set `GameEnv.has_decisive_moves`.
        """
        raise NotImplementedError(f"{type(self).__name__} must have decisive_moves, since {self.env} sets it")

    @abstractmethod
    def planes(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the network's input, float32 [n, planes, height, width], C-contiguous, from the mover's view."""

    @abstractmethod
    def is_over(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write for each slot whether its game is over, bool [n]."""

    @abstractmethod
    def to_play(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the player to move, int8 [n]: +1 the first player (Black), -1 the second."""

    @abstractmethod
    def hash(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write a hash of each position, int64 [n], equal for equal positions; it may ignore komi and history."""

    @abstractmethod
    def outcome(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the mover's outcome if the game ended now, float32 [n], -1 .. 1."""

    def score(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the mover's margin in points if the game ended now, float32 [n].

        In games without points, it is the outcome.
        """
        return self.outcome(slots, out)

    def ownership(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write each point's owner if the game ended now, int8 [n, height * width].

        1 is the mover, -1 the other side, 0 neither.  Games without `has_ownership` write zeros.
        """
        out[:] = 0
        return out


class PlainBatch(GameBatch):
    """A batch of plain Python states (`GameEnv.new`), for any game; slow."""

    def __init__(self, env: GameEnv, count: int) -> None:
        super().__init__(env, count)
        self.states = [env.new() for _ in range(count)]

    def reset(self, slots: np.ndarray, **setup: Any) -> None:
        for slot in slots:
            self.states[slot] = self.env.new(**setup)

    def copy(self, sources: np.ndarray, targets: np.ndarray, of: GameBatch | None = None) -> None:
        states = self.states if of is None else of.states  # type: ignore[attr-defined]
        for source, target in zip(sources, targets, strict=True):
            self.states[target] = states[source].copy()

    def play(self, slots: np.ndarray, actions: np.ndarray) -> None:
        for slot, action in zip(slots, actions, strict=True):
            self.states[slot].play(int(action))

    def legal_mask(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            out[i] = self.states[slot].legal_mask()
        return out

    def decisive_moves(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            legal = np.flatnonzero(self.states[slot].legal_mask()).tolist()
            out[i] = next((action for action in legal if self._wins(slot, action)), -1)
        return out

    def _wins(self, slot: int, action: int) -> bool:
        state = self.states[slot].copy()
        mover = state.to_play
        state.play(action)
        return bool(state.is_over() and state.to_play * state.outcome() * mover == 1)

    def planes(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            out[i] = self.states[slot].planes()
        return out

    def is_over(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            out[i] = self.states[slot].is_over()
        return out

    def to_play(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            out[i] = self.states[slot].to_play
        return out

    def hash(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            state = self.states[slot]
            digest = hashlib.blake2b(state.planes().tobytes(), digest_size=8)
            digest.update(bytes([state.to_play & 1, state.to_play > 0]))
            out[i] = int.from_bytes(digest.digest(), "little", signed=True)
        return out

    def outcome(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            out[i] = self.states[slot].outcome()
        return out

    def score(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            state = self.states[slot]
            out[i] = state.score() if hasattr(state, "score") else state.outcome()
        return out

    def ownership(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        if not self.env.has_ownership:
            return super().ownership(slots, out)
        for i, slot in enumerate(slots):
            out[i] = self.states[slot].ownership()
        return out


class Position(Pictured):
    """One position of any game; immutable: `play` returns a new one.

    Values are from the first player's (Black's) view: +1 means that Black wins.
    """

    def __init__(self, env: GameEnv, batch: GameBatch, setup: Mapping[str, Any], moves: tuple[int, ...] = ()) -> None:
        """Wrap the only position in `batch`, reached by `moves` from `env.position(**setup)`."""
        self.env = env
        self.batch = batch
        self.setup = setup
        self.moves = moves

    @property
    def began_empty(self) -> bool:
        """Whether the game began without set-up."""
        return not self.setup

    @property
    def move_number(self) -> int:
        """The number of plies so far; in some games a set-up may say how many there were before it."""
        return len(self.moves)

    @cached_property
    def to_play(self) -> int:
        """The side to move: +1 the first player (Black), -1 the second."""
        return int(self.batch.to_play(_FIRST, np.empty(1, np.int8))[0])

    @cached_property
    def legal_mask(self) -> np.ndarray:
        """The legal actions, bool [action_space], pass last; all False once the game is over."""
        mask = self.batch.legal_mask(_FIRST, np.empty((1, self.env.action_space), np.bool_))[0]
        mask.flags.writeable = False
        return mask

    @cached_property
    def is_over(self) -> bool:
        """Whether the game has ended by its rules."""
        return bool(self.batch.is_over(_FIRST, np.empty(1, np.bool_))[0])

    def score(self) -> float:
        """Return Black's margin if the game ended now, komi included; in games without points, the outcome."""
        return self.to_play * float(self.batch.score(_FIRST, np.empty(1, np.float32))[0]) + 0.0  # no -0.0

    @property
    def outcome(self) -> float:
        """The outcome if the game ended now, -1 .. 1, from Black's view; in some games it depends on the margin."""
        return self.to_play * float(self.batch.outcome(_FIRST, np.empty(1, np.float32))[0]) + 0.0

    @property
    def result(self) -> float:
        """The sign of `outcome`: +1 Black wins, -1 White wins, 0 a draw."""
        return float(np.sign(self.outcome))

    def planes(self) -> np.ndarray:
        """Return the network's input, float32 [planes, height, width], from the mover's view."""
        return self.batch.planes(_FIRST, np.empty((1, self.env.planes, *self.env.plane_shape), np.float32))[0]

    @property
    def contents(self) -> Sequence[int] | None:
        """What is in each cell of `GameEnv.board_view`: 1 the first player's stone, -1 the second's, 0 none.

        In houses it is the number of seeds. None in a game without cells.
        """
        return None

    @property
    def captures(self) -> tuple[int, int] | None:
        """The numbers of pieces that the first player and the second have captured; None if none can be."""
        return None

    @property
    def ko_points(self) -> Sequence[int]:
        """The cells where only a rule against repetition forbids a move, which are marked."""
        return ()

    @cached_property
    def last_cell(self) -> int | None:
        """The cell in which the piece of the last move landed, or from which it was sown; None if there is none."""
        view, contents = self.env.board_view, self.contents
        if not self.moves or contents is None:
            return None
        same = view.places[0] == view.places[1]
        mover = 1 if same else deque(self.replay(), maxlen=2)[0].to_play  # players need not alternate
        return view.last_cell(mover, self.moves[-1], contents)

    def play(self, action: int | str) -> Self:
        """Return the position after a legal move, given as an action or as text ('d3').

        Raises IllegalMove if the move is not legal.
        """
        action = self.check_action(action)
        batch = self.batch.extract(0)
        batch.play(_FIRST, np.array([action], np.int32))
        return type(self)(self.env, batch, self.setup, (*self.moves, action))

    def after(self, moves: Iterable[int | str]) -> Self:
        """Return the position after legal moves, each as for `play`; raise IllegalMove if one is not legal."""
        return reduce(lambda position, move: position.play(move), moves, self)

    def replay(self) -> Iterator[Self]:
        """Return all positions of the game so far, one after the other, from the start or set-up to this one."""
        start = type(self)(self.env, self.env.position(**self.setup).batch, self.setup)
        return accumulate(self.moves, lambda position, action: position.play(action), initial=start)

    def check_action(self, action: int | str) -> int:
        """Return the action of a move, which is given as an action or as text.

        Raises IllegalMove, with the reason, if the move is not legal.
        """
        if isinstance(action, str):
            try:
                action = self.env.from_text(action)
            except ValueError as error:
                raise IllegalMove(str(error)) from None
        if isinstance(action, (bool, np.bool_)) or not isinstance(action, (int, np.integer)):
            raise IllegalMove(f"action must be an integer or a text, got {shown(action)}")
        action = int(action)
        if not 0 <= action < self.env.action_space:
            raise IllegalMove(f"no action {action} in {self.env}: actions are 0 to {self.env.action_space - 1}")
        if not self.legal_mask[action]:
            reason = "the game is over" if self.is_over else self.why_illegal(action)
            raise IllegalMove(f"illegal move {self.env.to_text(action)}: {reason}, in {self.describe()}")
        return action

    def why_illegal(self, action: int) -> str:
        """Return a short reason why an action is illegal in a game that is not over."""
        return "not allowed"

    def setup_in(self, env: GameEnv) -> dict[str, Any]:
        """Return the keywords of `env.position` for the start of this game.

        env: a game that accepts positions of this game (`GameEnv.accepts`), perhaps with another komi.
        """
        return dict(self.setup)

    def describe(self) -> str:
        """Return a line of text with the set-up and the moves that lead to this position."""
        setup = ", ".join(f"{key}={value!r}" for key, value in self.setup.items())
        start = f"{self.env}.position({setup})" if setup else f"{self.env}"
        return start + (f" after {self.moves_text()}" if self.moves else "")

    def moves_text(self) -> str:
        """Return the moves so far as text."""
        return " ".join(self.env.to_text(action) for action in self.moves)

    def __str__(self) -> str:
        """Return a drawing of the position; in games that cannot be drawn, the text of `describe`."""
        return f"<{self.describe()}>"

    def __repr__(self) -> str:
        """Return the same text as `str`, so that Python prompts show the board."""
        return str(self)

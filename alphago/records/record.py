"""Finished games as records, which self-play writes, training reads, and which can be drawn."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from alphago.drawing.axes import spaced_indices
from alphago.drawing.image import Gif, to_gif
from alphago.drawing.shapes import Drawing, sheet
from alphago.drawing.svg import Svg, animate, to_svg
from alphago.env.board import check_player, result_text
from alphago.env.game import GameEnv
from alphago.env.position import Look, Position
from alphago.system.files import read_named, user_path
from alphago.system.npz import npz_bytes, read_npz
from alphago.system.validation import check_int, check_positive, shown

SEED_END = 2**63  # above all seeds: files keep them as int64
ZIP_MARK = b"PK"  # the first bytes of a zip archive, and so of an .npz file
LAST_FRAME = 3.0  # seconds that an animation shows its last frame
POLICY_SCALE = 65535  # policies are kept as uint16: 0 .. 1 in steps of 1 / 65535


@dataclass(frozen=True, eq=False, repr=False)
class GameRecord:
    """One game: its moves, and the results of the search before each move; T plies, A actions.

    `values` are from the view of the player about to move, `outcome` and `score` from Black's. The game starts at
    `env.position(**setup)`.  `policies` are quantised to uint16 to keep files small; divided by POLICY_SCALE they are
    probabilities that sum to 1 up to rounding.  A move that was played without a search has weight 0, and its policy
    means nothing.
    """

    moves: np.ndarray  # int16 [T]
    policies: np.ndarray  # uint16 [T, A], POLICY_SCALE is 1.0: shares of visits (PUCT) or the improved policy (Gumbel)
    values: np.ndarray  # float32 [T], root value after the search, mover's view
    weights: np.ndarray  # float32 [T], weight in the loss; 0: no search, or one with fewer readouts than a full one
    surprises: np.ndarray  # float32 [T], KL divergence in nats of the network's policy from the search's; 0: unknown
    legal_counts: np.ndarray  # int16 [T], number of legal actions; 0: unknown
    movers: np.ndarray  # int8 [T], +1 Black, -1 White
    outcome: float  # -1 .. 1, Black's view
    score: float  # Black's margin in points; equal to `outcome` if the game has no points or was resigned
    resigned: bool = False
    setup: dict[str, Any] = field(default_factory=dict)
    seed: tuple[int, int] | None = None  # (run's seed, game number) of the random stream, 0 .. SEED_END - 1
    seconds: float | None = None  # from the first move to the last; None for records read from a file
    env: GameEnv | None = None  # the game that was played; None for records read from a file

    def __post_init__(self) -> None:
        if self.seed is not None and not all(0 <= number < SEED_END for number in self.seed):
            raise ValueError(f"seed must be two integers from 0 to 2^63 - 1, got {self.seed}")

    def __len__(self) -> int:
        return len(self.moves)

    def __repr__(self) -> str:
        setup = f", from {', '.join(self.setup)} set up" if self.setup else ""
        return f"<a game of {len(self)} moves{setup}: {self.result_string}>"

    @property
    def result_string(self) -> str:
        """The result as text: 'B+2.5', 'W+R' (by resignation) or 'draw'."""
        if self.resigned and self.outcome:
            return "B+R" if self.outcome > 0 else "W+R"
        return result_text(self.score)

    @property
    def training_plies(self) -> np.ndarray:
        """The plies that `training_data` returns, int64 [n], from 0: weight > 0 and a policy that is not all 0.

        For the same plies of another array: `record.values[record.training_plies]`.
        """
        return np.flatnonzero((self.weights > 0) & self.policies.any(axis=1))

    def training_data(self, env: GameEnv) -> tuple[list[Position], list[np.ndarray], list[float]]:
        """Return three lists with one entry for each of the `training_plies`: positions, policies, outcomes.

        Positions are those before the moves.  Policies are float32 [A] and sum to 1.  Every outcome is the outcome of
        the game, from Black's view, -1 .. 1.  AlphaGo.jl has the same method.
        """
        positions = [before for before, _ in self.position(env).turns()]
        kept = self.training_plies
        shares = self.policies[kept].astype(np.float32)
        policies = list(shares / shares.sum(axis=1, keepdims=True))
        return [positions[ply] for ply in kept], policies, [self.outcome] * len(kept)

    def start(self, env: GameEnv) -> Position:
        """Return the position in which the game begins; raise ValueError if `env` has no such position."""
        try:
            return env.position(**self.setup)
        except Exception as error:  # what a file names may be anything
            raise ValueError(f"a game of {env} cannot begin with {shown(self.setup)} ({error})") from error

    def position(self, env: GameEnv, ply: int | None = None) -> Position:
        """Return the position before move `ply` (counted from 0); None for the position after the last move.

        The player of that move is to move there, even if the other side's turn was skipped.
        """
        position = self.start(env).after(self.moves[:ply], self.movers[:ply].tolist())
        return position if ply is None or ply >= len(self) else position.give_turn(int(self.movers[ply]))

    def steps(self, env: GameEnv) -> np.ndarray:
        """Return the moves as steps for `GameBatch.replay`, int32 [T] (see `to_steps`)."""
        first = check_player(self.setup.get("to_play", 1)) if env.skips_turns else 0
        return to_steps(self.moves, self.movers, first)

    # --- pictures ---

    def svg(self, ply: int | None = None, *, env: GameEnv | None = None, **look: Any) -> Svg:
        """Return a picture of a position, with the numbers of the moves on the stones.

        Args:
            ply: the move before which the position is, from 0; None for the position after the last move.
            env: the game, needed for records that were read from a file; None for `self.env`.
            look: further keywords of `Position.svg`.

        Raises:
            ValueError: if the game is unknown or has no such ply.
        """
        game = require_env(self, env)
        if ply is not None:
            check_int("ply", ply, 0, len(self))
        caption = {"caption": end_text(self)} if ply in (None, len(self)) else {}
        return self.position(game, ply).svg(**{"numbers": True, **caption, **look})

    def animation(self, *, env: GameEnv | None = None, seconds: float = 0.7, size: float | None = None) -> Svg:
        """Return the game as an animated SVG that loops, `seconds` a move.

        Args:
            env: as in `svg`.
            size: width in pixels; None for the usual width.
        """
        return animate(draw_frames(self, env, seconds), seconds, last_seconds=max(seconds, LAST_FRAME), size=size)

    def gif(self, *, env: GameEnv | None = None, seconds: float = 0.7, size: float | None = None) -> Gif:
        """Return the game as an animated GIF that loops, `seconds` a move; `.save(path)` writes it to a file.

        Args:
            env: as in `svg`.
            size: width in pixels; None for the usual width.

        Raises:
            ImportError: without Pillow (the extra `plot`).
        """
        return to_gif(draw_frames(self, env, seconds), seconds, last_seconds=max(seconds, LAST_FRAME), size=size)

    def sheet(self, *, env: GameEnv | None = None, columns: int = 4, most: int = 12) -> Svg:
        """Return one picture of at most `most` evenly spaced positions of the game, `columns` in a row.

        Args:
            env: as in `svg`.
        """
        check_int("columns", columns, 1)
        positions = list(self.position(require_env(self, env)).replay())
        plies = spaced_indices(len(self) + 1, check_int("most", most, 1))
        captions = [end_text(self) if ply == len(self) else f"move {ply}" for ply in plies]
        return to_svg(sheet([small_drawing(positions[ply]) for ply in plies], captions, columns))

    def _repr_svg_(self) -> str | None:
        """Return the final position for a notebook; None (the notebook then shows text) if the game is unknown."""
        return None if self.env is None else str(self.svg())


def draw_frames(record: GameRecord, env: GameEnv | None, seconds: float) -> list[Drawing]:
    """Return a drawing of each position, all of the same size.

    Args:
        env: as in `GameRecord.svg`.
        seconds: of a frame, only checked here.

    Raises:
        ValueError: if the game is unknown, or unless `seconds` is positive, and at most 600.
    """
    check_positive("seconds", seconds, 600)  # a frame of a GIF lasts 655 seconds at most
    positions = list(record.position(require_env(record, env)).replay())
    captions = [f"move {ply} of {len(record)}" for ply in range(len(record))] + [end_text(record)]
    return [position.drawing(Look(caption=text)) for position, text in zip(positions, captions, strict=True)]


def small_drawing(position: Position) -> Drawing:
    """Return a drawing of a position without coordinates and caption, for a sheet."""
    return position.drawing(Look(coordinates=False, caption=""))


def require_env(record: GameRecord, env: GameEnv | None) -> GameEnv:
    """Return `env`, or the record's own game if `env` is None; raise ValueError if both are None."""
    game: GameEnv | None = record.env if env is None else env
    if game is None:
        raise ValueError("env must be the game of a record that was read from a file, such as svg(env=GoEnv(9))")
    return game


def end_text(record: GameRecord) -> str:
    """Return a game's length and result as a caption."""
    return f"{len(record)} moves: {record.result_string}"


def to_steps(moves: np.ndarray, movers: np.ndarray, first: int) -> np.ndarray:
    """Return the T moves of a game as steps of a replay, int32 [T].

    A step is the move's action, or -1 - action if the other side's turn was skipped before the move.

    Args:
        moves: actions [T].
        movers: who played each move, +1 or -1, [T].
        first: the side to move in the beginning, +1 or -1; 0 for games that skip no turns.
    """
    # For each move, who moved before it; before the first move the side that does not begin.  [:0] if there is no move.
    movers_before = np.concatenate([np.full(1, -first, np.int8), movers[:-1]])[: len(moves)]
    turn_skipped = (movers == movers_before) & (first != 0)
    return np.where(turn_skipped, -1 - moves.astype(np.int32), moves).astype(np.int32)


def quantise(policy: np.ndarray) -> np.ndarray:
    """Return probabilities, 0 .. 1, as uint16 in steps of 1 / POLICY_SCALE."""
    return np.round(policy * POLICY_SCALE).astype(np.uint16)


ARRAYS = tuple(f.name for f in fields(GameRecord) if f.type is np.ndarray)  # the fields with an item a ply


def new_plies(count: int, actions: int) -> np.ndarray:
    """Return a structured array [count] of zeros, whose fields are ARRAYS; actions: how many actions the game has."""
    # ("u2", (actions,)) and not a text such as "(82,)u2": numpy parses a text with `ast`, which failed in threads.
    dtypes = ("i2", ("u2", (actions,)), "f4", "f4", "f4", "i2", "i1")
    return np.zeros(count, [*zip(ARRAYS, dtypes, strict=True)])


def split_fields(plies: np.ndarray) -> dict[str, Any]:
    """Return the fields of a structured array, see `new_plies`, as arrays of their own, by name."""
    return {name: np.ascontiguousarray(plies[name]) for name in ARRAYS}


def record_without_searches(
    env: GameEnv, moves: np.ndarray, movers: np.ndarray, *, outcome: float, score: float, resigned: bool, setup: Any
) -> GameRecord:
    """Return the record of a game from a file: one-hot policies for the moves played, values 0.

    Args:
        moves: actions, integers [T].
        movers: who played them, +1 Black, -1 White, integers [T].
        outcome, score, resigned, setup: as in GameRecord.
    """
    plies = new_plies(len(moves), env.action_space)
    plies["moves"], plies["movers"], plies["weights"] = moves, movers, 1
    plies["policies"][np.arange(len(moves)), moves] = POLICY_SCALE
    return GameRecord(**split_fields(plies), outcome=outcome, score=score, resigned=resigned, setup=setup, env=env)


def to_arrays(records: list[GameRecord]) -> dict[str, np.ndarray]:
    """Return the records as a few arrays by name, in which all games are concatenated; `read_arrays` is the inverse."""
    # Without records there is nothing to concatenate, which numpy refuses.
    arrays = {name: np.concatenate([getattr(r, name) for r in records]) if records else np.zeros(0) for name in ARRAYS}
    arrays["lengths"] = np.array([len(r) for r in records], np.int32)
    arrays["outcomes"] = np.array([r.outcome for r in records], np.float32)
    arrays["scores"] = np.array([r.score for r in records], np.float32)
    arrays["resigned"] = np.array([r.resigned for r in records], np.bool_)
    arrays["seeds"] = np.array([r.seed or (-1, -1) for r in records], np.int64)  # (-1, -1) stands for None
    arrays["setups"] = np.array([json.dumps(r.setup) for r in records])
    return arrays


def records_to_bytes(records: list[GameRecord]) -> bytes:
    """Return records as the contents of a file, an .npz archive of plain arrays."""
    return npz_bytes(to_arrays(records))


def load_records(path: str | Path) -> list[GameRecord]:
    """Return the records in a file, written by `records_to_bytes`; raise ValueError for any other file."""
    data = read_named(user_path(path))  # numpy gets bytes, not the path: it would leave an unreadable file open
    if not data.startswith(ZIP_MARK):
        raise ValueError(f"{path} holds no game records (not an .npz archive)")
    try:
        return read_arrays(read_npz(data))
    except Exception as error:  # a damaged archive can fail in any way
        raise ValueError(f"{path} holds no game records ({type(error).__name__}: {error})") from error


def read_arrays(arrays: Mapping[str, np.ndarray]) -> list[GameRecord]:
    """Return the records in the arrays of a file; arrays that contradict each other may raise any exception."""
    ends = np.cumsum(arrays["lengths"])
    game_arrays = [arrays[name] for name in ("outcomes", "scores", "resigned", "seeds")]  # with an item a game
    if any(len(array) != len(ends) for array in (*game_arrays, arrays["setups"])):
        raise ValueError("some games lack an array")
    if any(len(arrays[name]) != (ends[-1] if len(ends) else 0) for name in ARRAYS):
        raise ValueError("the games' lengths do not add up")
    finite = all(np.isfinite(arrays[name]).all() for name in ("values", "weights", "surprises", "outcomes", "scores"))
    if not finite or not np.isin(arrays["movers"], (1, -1)).all():
        raise ValueError("movers must be 1 or -1, values and results finite")
    setups = [json.loads(str(text)) for text in arrays["setups"]]
    if any(not isinstance(setup, dict) for setup in setups):
        raise ValueError("set-ups must be JSON objects")
    split: dict[str, Any] = {name: np.split(arrays[name], ends[:-1]) for name in ARRAYS}
    return [
        GameRecord(
            **{name: split[name][number] for name in ARRAYS},
            outcome=float(outcome),
            score=float(score),
            resigned=bool(resigned),
            setup=setup,
            seed=None if seed[0] < 0 else (int(seed[0]), int(seed[1])),
        )
        for number, (outcome, score, resigned, seed, setup) in enumerate(zip(*game_arrays, setups, strict=True))
    ]


@dataclass(eq=False, repr=False)
class RecordBuilder:
    """A game in progress, recorded ply by ply.

    Attributes:
        setup, seed, env: as in `GameRecord`.
        plies: for each ply of this game a pair: a block (`new_plies`), which holds one ply of each of many games that
            are played at once, and the row of this game in the block.
        start_time: the reading of `time.monotonic()` when the game began.
    """

    setup: dict[str, Any] = field(default_factory=dict)
    seed: tuple[int, int] | None = None
    env: GameEnv | None = None
    plies: list[tuple[np.ndarray, int]] = field(default_factory=list)
    start_time: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, record: GameRecord) -> "RecordBuilder":
        """Return a builder that begins with a record's moves, to add further ones."""
        plies = new_plies(*record.policies.shape)
        for name in ARRAYS:
            plies[name] = getattr(record, name)
        # `add_moves` makes a block with a row for each of several games.  This block has a row for each ply of one.
        return cls(record.setup, record.seed, record.env, [(plies, row) for row in range(len(record))])

    def __len__(self) -> int:
        return len(self.plies)

    def add(
        self, action: int, policy: np.ndarray, value: float, legal_count: int, mover: int, weight: float = 1.0
    ) -> None:
        """Add a move, whose surprise is unknown.

        Args:
            policy: float32 [A], sums to 1.
            value: -1 .. 1, from the view of `mover`.
            legal_count: number of legal actions.
            mover: 1 Black, -1 White.
            weight: as in `GameRecord`.
        """
        told = {"weights": weight, "surprises": 0, "legal_counts": legal_count, "movers": mover}
        add_moves([self], policy[None], moves=action, values=value, **told)

    def finish(self, outcome: float, score: float, resigned: bool, action_space: int) -> GameRecord:
        """Return the record of the finished game.

        Args:
            outcome, score, resigned: as in `GameRecord`.
            action_space: number of actions of the game.
        """
        plies = new_plies(len(self), action_space)
        for ply, (block, row) in enumerate(self.plies):  # np.concatenate would take ten times as long
            plies[ply] = block[row]
        return GameRecord(
            **split_fields(plies),
            outcome=float(outcome),
            score=float(score),
            resigned=resigned,
            setup=self.setup,
            seed=self.seed,
            seconds=time.monotonic() - self.start_time,
            env=self.env,
        )


def add_moves(builders: list[RecordBuilder], policies: np.ndarray, **columns: Any) -> None:
    """Add a move to each of n games.

    Args:
        builders: of the n games; row i of each array is for builders[i].
        policies: float32 [n, A], each row sums to 1.
        columns: the other ARRAYS of the moves by name, each [n] or a number for all games, as in `GameRecord`: moves
            (the actions), values (from the view of each mover), weights, surprises, legal_counts and movers.
    """
    columns["policies"] = quantise(policies)
    block = new_plies(*policies.shape)
    for name in ARRAYS:
        block[name] = columns[name]
    for row, builder in enumerate(builders):
        builder.plies.append((block, row))

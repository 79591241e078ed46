"""Go: `GoEnv(9)`, its readable positions, and its batches over the kernels of the same name.

Rules: captures, no suicide, positional superko (no board may occur twice, whoever is to move), two
passes end the game, area score after Tromp and Taylor with komi.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from alphago.env import symmetry
from alphago.env.board import COLUMNS, draw_board, point_text, read_point, result_text
from alphago.env.game import PLAYER_NAMES, GameBatch, GameEnv, Position
from alphago.env.kernels import go as kernels
from alphago.env.kernels import go_features as features
from alphago.env.symmetry import Symmetries

MIN_SIZE, MAX_SIZE = 2, 19

Stones = str | Iterable[str | int]


class GoEnv(GameEnv):
    """Go on a board of `board_size` x `board_size` points, 2 to 19.

    An action is row * N + column with row 0 at the top; the last one, N * N, is the pass.

    komi: White's points before the game, a multiple of 0.5; by default 7.5, and 9 on 7x7 (believed to
        be the fair value there).
    planes: what a network receives.  None for 16 planes from the mover's view in which the rules say what
        they know: stones, liberties, forbidden points, last moves, areas, komi and score (see
        `alphago.env.kernels.go_features`).  An odd number for boards alone: 2 planes per remembered board
        (own and enemy stones), 1 for the side to move; 17 are AlphaGo Zero's (Silver et al. 2017, "Neural
        network architecture").
    max_moves: plies after which the game is scored as it stands; by default 7 N^2 / 5 rounded down,
        as in AlphaGo.jl.
    margin_weight: 0 to 1, the part of an outcome that depends on the margin: outcomes become
        (1 - w) sign + w tanh(margin / 10).  Meant for self-play: there is something to win or lose
        in decided games too (KataGo's score utility: Wu 2019, "Accelerating
        Self-Play Learning in Go", section 4); `result` and who wins stay what they are.
    komi_spread: each game's komi in self-play: half of the games draw it around `komi`, the others, with a
        wider spread, around a smaller one, in units of this many points (see `random_setup`); 0 always
        plays `komi`.  One network then knows all komis, and games stay open while one side is stronger.
    first_pass: the ply from which passing is legal; before it only where nothing else is.  Not a rule
        of Go: for self-play, where young networks otherwise end games before there is anything to score
        (cody2007 had such a ply too).
    eye_games: so many games of self-play, a run's first, forbid the filling of one's own eyes.  Knowledge from
        outside the rules.
    """

    name = "go"
    actions_are_points = True
    has_ownership = True
    pass_action: int

    def __init__(
        self,
        board_size: int,
        *,
        komi: float | None = None,
        planes: int | None = None,
        max_moves: int | None = None,
        margin_weight: float = 0.0,
        komi_spread: float = 0.0,
        first_pass: int = 0,
        eye_games: int = 0,
    ) -> None:
        if isinstance(board_size, bool) or not isinstance(board_size, (int, np.integer)):
            raise TypeError(f"board_size is a whole number from {MIN_SIZE} to {MAX_SIZE}, came {board_size!r}")
        if not MIN_SIZE <= board_size <= MAX_SIZE:
            raise ValueError(f"board_size is {MIN_SIZE} to {MAX_SIZE}, came {board_size}")
        whole = not isinstance(planes, bool) and isinstance(planes, (int, np.integer))
        if planes is not None and (not whole or planes % 2 == 0 or planes < 3):
            raise ValueError(
                "planes is None for what the rules know, or an odd number from 3 (2 per remembered board, 1 for the "
                f"mover), came {planes!r}"
            )
        if max_moves is not None and (not isinstance(max_moves, (int, np.integer)) or max_moves < 1):
            raise ValueError(f"max_moves is a whole number from 1, came {max_moves!r}")
        if not 0 <= margin_weight <= 1:
            raise ValueError(f"margin_weight is 0 to 1, came {margin_weight!r}")
        if isinstance(first_pass, bool) or not isinstance(first_pass, (int, np.integer)) or first_pass < 0:
            raise ValueError(f"first_pass is a whole number from 0, came {first_pass!r}")
        if not komi_spread >= 0:
            raise ValueError(f"komi_spread is 0 or more, came {komi_spread!r}")
        self.komi_spread = float(komi_spread)
        self.margin_weight = float(margin_weight)
        self.first_pass = int(first_pass)
        if isinstance(eye_games, bool) or not isinstance(eye_games, (int, np.integer)) or eye_games < 0:
            raise ValueError(f"eye_games is a whole number from 0, came {eye_games!r}")
        self.eye_games = int(eye_games)
        self.N = int(board_size)
        self.boards_only = planes is not None
        self.planes = features.PLANES if planes is None else int(planes)
        self.history = (self.planes - 1) // 2 if self.boards_only else 1
        self.plane_shape = (self.N, self.N)
        self.action_space = self.N * self.N + 1
        self.pass_action = self.N * self.N
        self.max_moves = int(max_moves) if max_moves is not None else 7 * self.N * self.N // 5
        self.komi = check_komi((9.0 if self.N == 7 else 7.5) if komi is None else komi)

    @property
    def config(self) -> dict[str, Any]:
        return {
            "board_size": self.N,
            "komi": self.komi,
            "planes": self.planes if self.boards_only else None,
            "max_moves": self.max_moves,
            "margin_weight": self.margin_weight,
            "komi_spread": self.komi_spread,
            "first_pass": self.first_pass,
            "eye_games": self.eye_games,
        }

    def replace(self, **options: Any) -> "GoEnv":
        """The same game but for the given options; with another `board_size`, defaults become that board's.

        Komi and max_moves that are not the default of this board stay.
        """
        if options.get("board_size", self.N) != self.N:
            usual = GoEnv(self.N).config
            options = {n: None for n in ("komi", "max_moves") if self.config[n] == usual[n]} | options
        return super().replace(**options)

    def resized(self, size: int) -> "GoEnv":
        """The same options on another board; komi, ply limit and first pass become that board's own."""
        return self.replace(board_size=size, komi=None, max_moves=None, first_pass=0)

    def training_variant(self, taught_games: int = 0) -> "GoEnv":
        """First pass at nine tenths of the points, margin weight 0.3, komi spread 1, where they are not set already.

        Nobody fills own eyes in the first `taught_games` games.
        """
        return self.replace(
            eye_games=self.eye_games or taught_games,
            margin_weight=self.margin_weight or 0.3,
            komi_spread=self.komi_spread or 1.0,
            first_pass=self.first_pass or 9 * self.N * self.N // 10,
        )

    def random_setup(self, generator: np.random.Generator, number: int) -> dict[str, Any]:
        """Where `komi_spread` s is set, a komi: half the time near `komi` (deviation 2 s), else near half of it (5 s).

        The second half is for young networks, to whom the fair komi of strong players is a lost game.  The
        first `eye_games` games spare eyes too.
        """
        eyes = {"spares_eyes": True} if number < self.eye_games else {}
        if self.komi_spread == 0:
            return eyes
        near = generator.random() < 0.5
        centre, deviation = (self.komi, 2.0) if near else (self.komi / 2, 5.0)
        drawn = generator.normal(centre, deviation * self.komi_spread)
        return eyes | {"komi": float(np.clip(np.round(2 * drawn) / 2, -self.N * self.N, self.N * self.N))}

    def accepts(self, other: GameEnv) -> bool:
        return isinstance(other, GoEnv) and all(
            getattr(self, name) == getattr(other, name) for name in ("N", "planes", "max_moves")
        )

    def __repr__(self) -> str:
        plain = GoEnv(self.N)
        changed = [f"{k}={v!r}" for k, v in self.config.items() if v != plain.config[k]]
        return f"GoEnv({', '.join([str(self.N), *changed])})"

    @cached_property
    def symmetries(self) -> Symmetries:
        return symmetry.square(self.N, extra_actions=1)

    @cached_property
    def opening_actions(self) -> np.ndarray:
        """Points off the edge."""
        inner = np.zeros((self.N, self.N), np.bool_)
        inner[1:-1, 1:-1] = True
        return np.append(inner.ravel(), False)

    def new_batch(self, count: int) -> "GoBatch":
        return GoBatch(self, count)

    def position(
        self,
        black: Stones = (),
        white: Stones = (),
        to_play: int | str | None = None,
        komi: float | None = None,
        spares_eyes: bool = False,
    ) -> "GoPosition":
        """A position to look at and play on: the start, or a set-up one.

        black, white: points as text ("D4 E5") or a collection of texts or actions.
        to_play: "black" or "white" (or +1, -1); Black by default.
        Raises ValueError for a stone off the board, two on one point, or a chain without liberty.
        """
        setup: dict[str, Any] = {}
        stones = self.place(black, white)
        if stones.any():
            setup |= {
                colour: " ".join(self.to_text(int(a)) for a in np.flatnonzero(stones == sign))
                for colour, sign in (("black", 1), ("white", -1))
                if (stones == sign).any()
            }
        if to_play is not None:
            setup["to_play"] = PLAYER_NAMES[check_player(to_play)].lower()
        if komi is not None:
            setup["komi"] = check_komi(komi)
        if spares_eyes:
            setup["spares_eyes"] = True
        batch = self.new_batch(1)
        batch.reset(np.zeros(1, np.int64), stones=stones, to_play=to_play or 1, komi=komi, spares_eyes=spares_eyes)
        return GoPosition(self, batch, setup)

    def position_of(self, batch: GameBatch, slot: int) -> "GoPosition":
        position = GoPosition(self, batch.extract(slot), {})
        stones = {
            colour: " ".join(self.to_text(int(a)) for a in np.flatnonzero(position.board == sign))
            for colour, sign in (("black", 1), ("white", -1))
        }
        mover = {} if position.to_play == 1 else {"to_play": "white"}
        komi = {} if position.komi == self.komi else {"komi": position.komi}
        eyes = {"spares_eyes": True} if position.spares_eyes else {}
        position.setup = {**{c: points for c, points in stones.items() if points}, **mover, **komi, **eyes}
        return position

    def place(self, black: Stones, white: Stones) -> np.ndarray:
        """Stones as int8 [N, N]: 1 Black, -1 White, 0 empty; ValueError if they cannot stand so."""
        stones = np.zeros(self.N * self.N, np.int8)
        for colour, points in ((1, black), (-1, white)):
            for point in points.split() if isinstance(points, str) else points:
                action = self.from_text(point) if isinstance(point, str) else int(point)
                if not 0 <= action < self.pass_action:
                    raise ValueError(f"no stone can be placed at {point!r} on {self}")
                if stones[action]:
                    raise ValueError(f"two stones were placed at {self.to_text(action)}")
                stones[action] = colour
        return stones.reshape(self.N, self.N)

    def to_text(self, action: int) -> str:
        """'D4' or 'pass'; columns are letters without I, rows count from the bottom."""
        if action == self.pass_action:
            return "pass"
        if not 0 <= action < self.pass_action:
            raise ValueError(f"no action {action} in {self}: actions are 0 to {self.pass_action}")
        return point_text(action, self.N, self.N)

    def from_text(self, text: str) -> int:
        """The action of 'D4', 'd4' or 'pass'."""
        point = self.pass_action if text.strip().upper() == "PASS" else read_point(text, self.N, self.N)
        if point is None:
            raise ValueError(
                f"{text!r} is no point of {self}: expected A1 to {COLUMNS[self.N - 1]}{self.N} (no column I) or pass"
            )
        return point


def check_komi(komi: float) -> float:
    """Komi as a float; ValueError unless it is a multiple of 0.5 of reasonable size."""
    value = float(komi)
    if not (abs(value) <= 1000 and value * 2 == int(value * 2)):
        raise ValueError(f"komi is a multiple of 0.5 from -1000 to 1000, came {komi!r}")
    return value


def check_player(player: int | str) -> int:
    """+1 or -1 for "black", "white", "B", "w", +1, -1."""
    named = {"black": 1, "b": 1, "white": -1, "w": -1}
    value = named.get(player.lower()) if isinstance(player, str) else player
    if value not in (1, -1):
        raise ValueError(f"to_play is 'black' or 'white' (or +1, -1), came {player!r}")
    return int(value)


class GoBatch(GameBatch):
    """Go positions as packed rows (see the kernels for the layout)."""

    def __init__(self, env: GoEnv, count: int) -> None:
        super().__init__(env, count)
        self._komi, self._margin_weight, self._first_pass = env.komi, env.margin_weight, env.first_pass
        self._size, self._history, self._max_moves = env.N, env.history, env.max_moves
        self._boards_only = env.boards_only
        words = kernels.row_words(env.N, env.history, env.max_moves)
        self.rows = np.zeros((count, words), np.int32)
        self.reset(np.arange(count))

    def reset(
        self,
        slots: np.ndarray,
        *,
        stones: np.ndarray | None = None,
        to_play: int | str = 1,
        komi: float | None = None,
        spares_eyes: bool = False,
    ) -> None:
        """Start positions; `stones` int8 [N, N] (1 Black, -1 White) and `to_play` set all slots up alike.

        spares_eyes: own eyes may not be filled (see `GoEnv.random_setup`).
        """
        if stones is not None and np.shape(stones) != (self._size, self._size):
            raise ValueError(f"stones are {[self._size, self._size]} points, came {list(np.shape(stones))}")
        komi2 = int(2 * (self._komi if komi is None else check_komi(komi)))
        size, limit = self._size, self._max_moves
        bits = kernels.filter_bits(limit)
        kernels.reset_batch(self.rows, slots, size, self._history, limit, self._first_pass, spares_eyes, komi2, bits)
        mover = kernels.BLACK if check_player(to_play) == 1 else kernels.WHITE
        if stones is None and mover == kernels.BLACK:
            return
        colours = np.zeros(size * size, np.int8) if stones is None else np.ascontiguousarray(stones, np.int8).ravel()
        for slot in slots:
            kernels.set_up(self.rows[slot], colours, mover)
            dead = kernels.misplaced(self.rows[slot], colours)
            if dead >= 0:
                raise ValueError(f"the chain at {self.env.to_text(dead)} has no liberty")

    def copy(self, sources: np.ndarray, targets: np.ndarray, of: GameBatch | None = None) -> None:
        rows = self.rows if of is None else of.rows  # type: ignore[attr-defined]
        kernels.copy_batch(rows, sources, self.rows, targets)

    def play(self, slots: np.ndarray, actions: np.ndarray) -> None:
        kernels.play_batch(self.rows, slots, actions)

    def replay(self, roots: np.ndarray, paths: np.ndarray, lengths: np.ndarray, targets: np.ndarray) -> None:
        kernels.replay_batch(self.rows, roots, paths, lengths, targets)

    def legal_mask(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        kernels.legal_mask_batch(self.rows, slots, out)
        return out

    def planes(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        flat = out.reshape(len(out), self.env.planes * self._size**2)
        if self._boards_only:
            kernels.planes_batch(self.rows, slots, self._history, flat)
        else:
            features.features_batch(self.rows, slots, flat)
        return out

    def is_over(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        kernels.is_over_batch(self.rows, slots, out)
        return out

    def to_play(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        kernels.to_play_batch(self.rows, slots, out)
        return out

    def hash(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        kernels.hash_batch(self.rows, slots, out)
        return out

    def outcome(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        kernels.outcome_batch(self.rows, slots, self._margin_weight, out)
        return out

    def score(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        kernels.score_batch(self.rows, slots, out)
        return out

    def ownership(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        kernels.ownership_batch(self.rows, slots, out)
        return out


class GoPosition(Position):
    """A Go position to read, print and play on.

    `score()` is Black's area minus White's area and komi (Tromp and Taylor: every stone on the board
    counts as alive); `result` its sign.
    """

    env: GoEnv

    @cached_property
    def board(self) -> np.ndarray:
        """int8 [N, N]: 1 Black, -1 White, 0 empty; row 0 at the top."""
        board = np.zeros(self.env.N * self.env.N, np.int8)
        kernels.board(self.batch.rows[0], board)  # type: ignore[attr-defined]
        board.flags.writeable = False
        return board.reshape(self.env.N, self.env.N)

    @property
    def komi(self) -> float:
        return float(self.batch.rows[0, kernels.KOMI2]) / 2  # type: ignore[attr-defined]

    @property
    def spares_eyes(self) -> bool:
        """Whether own eyes may not be filled in this game."""
        return bool(self.batch.rows[0, kernels.SPARES_EYES])  # type: ignore[attr-defined]

    def setup_in(self, env: GameEnv) -> dict[str, Any]:
        other_komi = isinstance(env, GoEnv) and env.komi != self.komi
        return {**self.setup, "komi": self.komi} if other_komi else dict(self.setup)

    def why_illegal(self, action: int) -> str:
        if action == self.env.pass_action:
            return f"passing is allowed from move {self.env.first_pass} on"
        if self.board.ravel()[action]:
            return f"{PLAYER_NAMES[int(self.board.ravel()[action])]} has a stone there"
        row = self.batch.rows[0]  # type: ignore[attr-defined]
        if self.spares_eyes and kernels.is_own_eye(row, kernels.point_of(row, action), int(row[kernels.TO_PLAY])):
            return "an own eye, which this game spares"
        if kernels.is_repetition(row, action):
            return "superko, the board would be one that was there before"
        return "suicide"

    def moves_text(self) -> str:
        players = [PLAYER_NAMES[self.to_play * (-1) ** (len(self.moves) - i)][0] for i in range(len(self.moves))]
        return ", ".join(f"{p} {self.env.to_text(a)}" for p, a in zip(players, self.moves, strict=True))

    def __str__(self) -> str:
        """The board with coordinates; X Black, O White, and brackets around the last stone."""
        last = self.moves[-1] if self.moves and self.moves[-1] != self.env.pass_action else None
        if self.is_over:
            margin = self.score()
            state = f"game over, {result_text(margin)}"
        else:
            state = f"{PLAYER_NAMES[self.to_play]} (X) to play" if self.to_play == 1 else "White (O) to play"
        passed = ", last move pass" if self.moves and last is None else ""
        board = draw_board(self.board, last)
        return f"{board}\n   move {len(self.moves)}: {state}{passed}, komi {self.komi:g}"

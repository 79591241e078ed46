"""Oware Abapa: `OwareEnv()`; its rules are in kernels/oware.py."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from alphago.drawing.board_view import BoardView
from alphago.env.batch import GameBatch
from alphago.env.board import check_player, result_text
from alphago.env.game import GameEnv
from alphago.env.game_options import Option, to_option
from alphago.env.kernels import oware as kernels
from alphago.env.kernels.rows import HEADER, MARGIN, PLY
from alphago.env.packed_batch import RowBatch
from alphago.env.position import Position
from alphago.system.validation import check_bool, check_choice, check_int, checks_keywords

SEEDS, HOUSES, SIDE = kernels.SEEDS, kernels.HOUSES, kernels.SIDE
LETTERS = "ABCDEF"
# By name: the number of planes, and their shape (height, width).
PLANE_SETS = {"board": (kernels.PLANES, (2, SIDE)), "one-hot": (kernels.ONE_HOT, (1, 1))}
REMAINDERS = ("own", "nobody")


class OwareRules(NamedTuple):
    """The rules in which variants of Oware differ; see `OwareEnv`."""

    max_moves: int
    repetition: bool
    remainder: str
    graded: bool


RULES = {
    "tournament": OwareRules(max_moves=200, repetition=True, remainder="own", graded=False),
    "cgzero": OwareRules(max_moves=199, repetition=False, remainder="nobody", graded=True),
}

MOST_MOVES = 65_536  # of a game: memory needs some limit


@checks_keywords()
class OwareEnv(GameEnv):
    """Oware by the Abapa rules: 12 houses of 4 seeds; whoever captures more than 24 of the 48 wins.

    A player sows all seeds of an own house one by one counterclockwise, skipping that house.  If the last seed makes
    two or three in an enemy house, these are captured, and so are twos and threes in the enemy houses directly before
    it.  A move that would capture all enemy seeds ("grand slam") captures nothing.  A player whose enemy has no seeds
    must give it some if possible.

    The game ends when a player has captured more than 24 seeds, when the player to move has no legal move, when a
    position occurs again, and after `max_moves` plies; in the last three cases each player takes the seeds in its own
    houses.  The margin is the difference of captured seeds, the outcome its sign.

    An action is an own house from the left, 0 to 5, written A to F.

    Args:
        rules: "tournament", or "cgzero" for the variant of CodinGame's contest, which CGZero learns: 199 plies, no end
            by repetition, `remainder` "nobody", graded outcomes.  The options below override single rules; None leaves
            a rule as it is.
        max_moves: plies after which the game ends.
        repetition: whether a position that occurs again ends the game, as in tournaments and OpenSpiel.
        remainder: who gets the seeds in the houses when `max_moves` ends the game: "own": each player gets the seeds in
            its own houses; "nobody": they do not count.
        graded: whether outcomes are fractions, as in CGZero: a win counts 0.85 + 0.0006 for each ply left + 0.0026 for
            each seed captured by the winner - 0.0020 for each captured by the loser, at most 1; a draw counts 0.0005
            for each seed captured by Black.  `result` and matches do not depend on it.
        planes: the network's input, from the mover's view: "board", 16 planes of 2 x 6 points, or "one-hot", CGZero's
            342 numbers (see `alphago.env.kernels.oware`).

    Raises:
        ValueError: for invalid options.
    """

    name, title = "oware", "Oware"
    N = action_space = SIDE
    cuts_games = has_device_kernels = True

    def __init__(
        self,
        max_moves: int | None = None,
        *,
        rules: Literal["tournament", "cgzero"] = "tournament",
        repetition: bool | None = None,
        remainder: Literal["own", "nobody"] | None = None,
        graded: bool | None = None,
        planes: str = "board",
    ) -> None:
        usual = RULES[check_choice("rules", rules, RULES)]
        self.max_moves = check_int("max_moves", usual.max_moves if max_moves is None else max_moves, 1, MOST_MOVES)
        self.repetition = check_bool("repetition", usual.repetition if repetition is None else repetition)
        self.remainder = check_choice("remainder", usual.remainder if remainder is None else remainder, REMAINDERS)
        self.graded = check_bool("graded", usual.graded if graded is None else graded)
        self.plane_set = check_choice("planes", planes, PLANE_SETS)
        self.planes, self.plane_shape = PLANE_SETS[self.plane_set]  # the number and the shape of the set's planes

    @property
    def rules(self) -> OwareRules:
        """The rules in which variants differ."""
        return OwareRules(self.max_moves, self.repetition, self.remainder, self.graded)

    @property
    def has_decisive_moves(self) -> bool:
        return not self.graded  # with graded outcomes a later win may count more

    @property
    def config(self) -> dict[str, Any]:
        return {**self.rules._asdict(), "planes": self.plane_set}

    @cached_property
    def board_view(self) -> BoardView:
        """Black's houses below from the left, White's above from the right, and a store behind them for each side."""
        black_middles = [(0.7 + 1.4 * house, 3.8) for house in range(SIDE)]  # each house has a width of 1.4
        white_middles = [(x, 2.1) for x, _ in reversed(black_middles)]
        names = [(x, y + 1.15, name) for (x, y), name in zip(black_middles, LETTERS, strict=True)]
        names += [(x, y - 0.9, name) for (x, y), name in zip(white_middles, LETTERS, strict=True)]
        # For each action of a side, its only cell: the house that the action empties.
        black_places = tuple((house,) for house in range(SIDE))
        white_places = tuple((house,) for house in range(SIDE, HOUSES))
        return BoardView(
            self.title,
            "houses",
            size=(8.4, 6.15),
            margin=0.35,
            cells=(*black_middles, *white_middles),
            places=(black_places, white_places),
            labels=tuple(names),
            stores=((0, 5.25, 8.4, 0.9), (0, 0, 8.4, 0.9)),  # Black's below, White's above
            stone=0.65,  # radius of a house
            reach=0.65,  # radius of the area where a click counts: the whole house
        )

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """What a person may choose for a new game: two of the rules."""
        repetition = to_option("repetition", self.repetition, title="Repetition ends")
        return repetition, to_option("remainder", self.remainder, title="Seeds left go to", choices=REMAINDERS)

    def replace(self, **options: object) -> Self:
        """Return the same game with some options changed.

        If `rules` is among them, all rules that are not given become those of `rules`.
        """
        # The config gives every rule a value, which would count more than `rules`.
        kept = {"planes": self.plane_set} if "rules" in options else self.config
        return type(self)(**{**kept, **options})

    def accepts(self, other: GameEnv) -> bool:
        """Return whether `other` is Oware by the same rules; `graded` and `planes` may differ."""
        return isinstance(other, OwareEnv) and self.rules._replace(graded=other.graded) == other.rules

    def __repr__(self) -> str:
        """Return the call with the fewest arguments that constructs the game."""
        calls: list[list[str]] = []  # for each variant, the arguments that make this game of it
        for name, rules in RULES.items():
            usual = {**rules._asdict(), "planes": "board"}
            named = [] if name == "tournament" else [f"rules={name!r}"]
            calls.append([*named, *(f"{key}={value!r}" for key, value in self.config.items() if value != usual[key])])
        arguments: list[str] = min(calls, key=len)
        return f"{type(self).__name__}({', '.join(arguments)})"

    def match_variant(self) -> Self:
        """Return the game without graded outcomes, since a match counts wins."""
        return self.replace(graded=False)

    def new_batch(self, count: int, device: str = "cpu") -> GameBatch:
        """Return a batch of `count` start positions on a device: "cpu", "cuda" or "host"."""
        return OwareBatch.on(device, self, count)

    def make_position(self, batch: GameBatch, setup: Mapping[str, object]) -> "OwarePosition":
        """Return the only position in `batch`; setup: the keywords of `position` with which its game began."""
        return OwarePosition(self, batch, setup)

    def to_text(self, action: int) -> str:
        """Return the house's letter, 'A' (the mover's leftmost) to 'F'."""
        if not 0 <= action < SIDE:
            raise ValueError(f"no action {action} in {self}: actions are 0 to {SIDE - 1}")
        return LETTERS[action]

    def from_text(self, text: str) -> int:
        """Return the action that a letter names, 'A' or 'a'; raise ValueError for any other text."""
        word = text.strip().upper()
        if len(word) != 1 or word not in LETTERS:
            raise ValueError(f"{text!r} is not a house of {self}: expected A to F")
        return LETTERS.index(word)


class OwareBatch(RowBatch):
    """Oware positions as packed rows (see the kernels for the layout)."""

    rules = kernels

    def __init__(self, env: OwareEnv, count: int) -> None:
        own = env.remainder == "own"
        # The rules as option bits, which the kernels read.
        self._bits = env.repetition * kernels.REPETITION | own * kernels.REMAINDER | env.graded * kernels.GRADED
        super().__init__(env, count, words=kernels.row_words(env.max_moves, self._bits))

    def reset(
        self,
        slots: np.ndarray,
        *,
        houses: Sequence[int] | None = None,
        margin: int = 0,
        to_play: int | str = 1,
        move_number: int = 0,
    ) -> None:
        """Set the slots to the start position, or all to the same set-up; raise ValueError for an invalid one.

        Args:
            houses: seeds in Black's houses from the left, then in White's; None for 4 in each.
            margin: Black's captured seeds minus White's.
            to_play: "black" or "white" (or +1, -1).
            move_number: plies so far, which count for `max_moves`.
        """
        seeds = np.full(HOUSES, SEEDS // HOUSES) if houses is None else np.asarray(houses)
        are_integers = seeds.shape == (HOUSES,) and seeds.dtype.kind in "iu"
        if not are_integers or seeds.min() < 0 or seeds.max() > SEEDS or seeds.sum() > SEEDS:
            raise ValueError(f"houses must be {HOUSES} integers >= 0 with a sum of at most {SEEDS}, got {houses!r}")
        captured = SEEDS - int(seeds.sum())
        margin = check_int("margin", margin, -captured, captured)
        if (captured + margin) % 2:  # Black's part is (captured + margin) / 2
            raise ValueError(f"margin must be a difference of two parts of {captured} captured seeds, got {margin!r}")
        ply = check_int("move_number", move_number, 0, self.env.max_moves)
        mover = check_player(to_play)
        start = [mover, margin, ply, self.env.max_moves, self._bits, *seeds.tolist()]  # as `kernels.reset` reads it
        self.rows[slots] = self.new_row(np.array(start, np.int64))

    def planes(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the game's set of planes, float32 [n, planes, height, width]: "board" or "one-hot"."""
        if self.env.plane_set == "one-hot":
            kernels.one_hot_batch(self.rows, slots, out.reshape(len(out), kernels.ONE_HOT))
            return out
        return super().planes(slots, out)

    def outcome(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write each mover's outcome, float32 [n], a fraction if outcomes are graded."""
        return self._answer(kernels.outcome_batch, slots, out)


class OwarePosition(Position):
    """A position of Oware to read, print and play on."""

    @property
    def result(self) -> float:
        """The winner: +1 Black, -1 White, 0 a draw; graded outcomes do not change it."""
        return float(np.sign(self.score()))

    @property
    def houses(self) -> list[int]:
        """The seeds in Black's six houses from Black's left, then in White's six from White's left."""
        return self.batch.rows[0, HEADER : HEADER + HOUSES].tolist()  # type: ignore[attr-defined]

    contents = houses  # overrides `Position.contents`: the cells of the board are the houses

    @property
    def captures(self) -> tuple[int, int]:
        """The numbers of captured seeds, (Black's, White's)."""
        captured = SEEDS - sum(self.houses)
        margin = int(self.batch.rows[0, MARGIN])  # type: ignore[attr-defined]
        return (captured + margin) // 2, (captured - margin) // 2

    def why_illegal(self, action: int) -> str:
        """Return why the mover must not sow its house `action` in a game that is not over."""
        own = self.houses[:SIDE] if self.to_play == 1 else self.houses[SIDE:]
        return "the house leaves the other side without seeds" if own[action] else "the house is empty"

    @property
    def move_number(self) -> int:
        """The number of plies so far, including the plies before a set-up (`move_number` of `OwareBatch.reset`)."""
        return int(self.batch.rows[0, PLY])  # type: ignore[attr-defined]

    @property
    def state_text(self) -> str:
        return f"game over, {result_text(self.score())}" if self.is_over else super().state_text

    def __str__(self) -> str:
        """Return the board as Black sees it: White's houses from right to left above Black's, stores beside them."""
        black, white = self.houses[:SIDE], self.houses[SIDE:]
        lines = [
            "   " + "".join(f"{letter:>4}" for letter in reversed(LETTERS)),
            "   " + "".join(f"{seeds:>4}" for seeds in reversed(white)) + f"    White {self.captures[1]}",
            "   " + "".join(f"{seeds:>4}" for seeds in black) + f"    Black {self.captures[0]}",
            "   " + "".join(f"{letter:>4}" for letter in LETTERS),
            f"   {self.caption}",
        ]
        return "\n".join(lines)

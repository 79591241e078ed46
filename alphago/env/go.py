"""Go: `GoEnv(9)`, the description of a game by its options; batches are in go_batch.py, positions in go_position.py.

Two passes end the game. The score is Tromp and Taylor's area score with komi: stones, and empty regions that touch one
colour only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from alphago.cuda.backend import find_backend
from alphago.drawing.board_view import BoardView
from alphago.env import go_rules, symmetry
from alphago.env.batch import GameBatch
from alphago.env.board import StonesEnv, check_board, check_player, follow
from alphago.env.game import GameEnv
from alphago.env.game_options import Option, to_option
from alphago.env.go_batch import GoBatch, GoStart
from alphago.env.go_cuda import CudaGoBatch
from alphago.env.go_position import GoPosition
from alphago.env.go_rules import Rules, Stones
from alphago.env.go_setup import earlier_captures, known_boards, set_up, setup_keywords
from alphago.env.kernels import go as kernels
from alphago.env.kernels import go_katago, go_planes
from alphago.env.kernels import go_row as layout
from alphago.env.position import Position
from alphago.env.symmetry import Symmetries
from alphago.system.validation import check_bool, check_choice, check_float, check_int, checks_keywords, is_int, shown

DEAD_STONES = "After two passes the game is counted, and dead stones are marked and taken off."
STONES_COUNT = "Stones on the board count as alive in the end: capture dead ones before the last turn."
KO_MARK = "ko: may not be taken back now"


@checks_keywords()
class GoEnv(StonesEnv):
    """Go on a board of `board_size` x `board_size` points, 2 to 25; `GoEnv(9, 17)` has 17 planes, as in AlphaGo.jl.

    An action is row * N + column with row 0 at the top; the last one, N * N, is the pass.

    Args:
        planes: the network's input, from the mover's view: a set of rule planes (`alphago.env.kernels.go_planes`) or a
            number of history planes.  "rules" (default): 16 planes with stones, liberties, forbidden points, last
            moves, areas, komi and score; "turns": 18, also the points that ko forbids, and the plies left until
            `max_moves`; "katago": 30, the input of KataGo's networks (`alphago.env.kernels.go_katago`); an odd number:
            2 planes per remembered board (own and enemy stones), 1 for the side to move; 17 as in AlphaGo Zero (Silver
            et al. 2017, "Neural network architecture").
        komi: White's points before the game, a multiple of 0.5; by default 7.5, and 9 on 7x7 (believed to be the fair
            value there).
        max_moves: plies after which the current board is scored; by default 7 N^2 / 5 rounded down, as in AlphaGo.jl; 0
            for no limit except 65 536 plies.
        ko: "positional": no board occurs twice; "situational": no board occurs twice with the same side to move;
            "simple": no move restores the board before the other side's last move, so a game can repeat until
            `max_moves`.
        suicide: whether a move may remove several own stones; a single stone may never be played so.
        turns: moves of each side after which the board is scored, as in cody2007's games; a pass uses up a turn and
            does not end the game.  None for games that end after two passes.
        margin_weight: weight w of the margin in an outcome, 0 to 1: outcomes become (1 - w) sign(margin) + w
            tanh(margin / 10).  For self-play, so that decided games still teach something (KataGo's score utility: Wu
            2019, "Accelerating Self-Play Learning in Go", section 4); `result` does not depend on it.
        komi_spread: in self-play, spread in points of the random komi of each game; 0 for `komi` in every game.  With
            random komis one network learns all komis, and neither side wins all games.
        first_pass: the ply from which passing is legal; before it a pass is legal only if there is no other move.  Not
            a rule of Go, but for self-play, where untrained networks would end games before there is anything to score
            (as in cody2007's games).

    Raises:
        ValueError: for invalid options.
    """

    name, title = "go", "Go"
    surface = "lines"
    setup_words = ("black", "white", "to_play")
    selfplay_options = frozenset({"max_moves", "margin_weight", "komi_spread", "first_pass"})
    actions_are_points = skips_turns = has_ownership = has_captures = has_sgf = has_device_kernels = True
    pass_action: int

    def __init__(
        self,
        board_size: int = 19,
        planes: int | str | None = None,
        *,
        komi: float | None = None,
        max_moves: int | None = None,
        ko: str = "positional",
        suicide: bool = False,
        turns: int | None = None,
        margin_weight: float = 0.0,
        komi_spread: float = 0.0,
        first_pass: int = 0,
    ) -> None:
        if max_moves is not None and turns is not None:
            raise ValueError(f"max_moves must be None in a game of {turns!r} turns, got {max_moves!r}")
        self.N = check_int("board_size", board_size, go_rules.MIN_SIZE, go_rules.MAX_SIZE)
        self.komi = go_rules.check_komi(go_rules.usual_komi(self.N) if komi is None else komi)
        # `history`: the number of boards that a position remembers.
        self.plane_set, self.planes, self.history = go_rules.check_planes("rules" if planes is None else planes)
        self.ko = check_choice("ko", ko, go_rules.KO_RULES)
        self.suicide = check_bool("suicide", suicide)
        self.turns = None if turns is None else check_int("turns", turns, 1, go_rules.ENDLESS // 2)
        self.cuts_games = self.turns is None  # games of `turns` end by their own rule at `max_moves`
        if self.turns is not None:
            self.max_moves = 2 * self.turns
        elif max_moves is None:
            self.max_moves = 7 * self.N * self.N // 5  # as in AlphaGo.jl
        else:
            self.max_moves = check_int("max_moves", max_moves, 0, go_rules.ENDLESS) or go_rules.ENDLESS  # 0: no limit
        self.margin_weight = check_float("margin_weight", margin_weight, 0, 1)
        self.komi_spread = check_float("komi_spread", komi_spread, 0)
        self.first_pass = check_int("first_pass", first_pass, 0, go_rules.ENDLESS)
        self.plane_shape = (self.N, self.N)
        self.action_space = self.N * self.N + 1
        self.pass_action = self.N * self.N

    @property
    def config(self) -> dict[str, object]:
        cap = 0 if self.max_moves == go_rules.ENDLESS else self.max_moves  # as the argument `max_moves`, 0 for no limit
        return {
            "board_size": self.N,
            "komi": self.komi,
            "planes": self.plane_set or self.planes,
            "max_moves": cap if self.turns is None else None,  # fixed turns imply it
            "ko": self.ko,
            "suicide": self.suicide,
            "turns": self.turns,
            "margin_weight": self.margin_weight,
            "komi_spread": self.komi_spread,
            "first_pass": self.first_pass,
        }

    def replace(self, **options: object) -> Self:
        """Return the same game with some options changed.

        Setting `turns` removes `max_moves`, since the number of turns already says how long a game is.
        If `board_size` is changed, a komi or max_moves that is the old board's default becomes the new board's default.
        """
        implied: dict[str, Any] = {"max_moves": None} if options.get("turns") is not None else {}
        if options.get("board_size", self.N) != self.N:
            usual = GoEnv(self.N).config
            # None: the new board's default.
            implied |= {name: None for name in ("komi", "max_moves") if self.config[name] == usual[name]}
        return super().replace(**{**implied, **options})  # what the caller gives counts more than what is implied

    @property
    def rules(self) -> Rules:
        """The rules of ko and suicide."""
        return Rules(self.ko, self.suicide)

    @cached_property
    def board_view(self) -> BoardView:
        # What the page says before a pass.  After a fixed number of turns all stones count as they stand.
        hint = DEAD_STONES if self.turns is None else STONES_COUNT
        return replace(super().board_view, stars=tuple(go_rules.star_points(self.N)), mark=KO_MARK, pass_hint=hint)

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """What a person may choose for a new game: size, komi, rules by name, and handicap."""
        usual = {size: go_rules.usual_komi(size) for size in range(go_rules.MIN_SIZE, go_rules.MAX_SIZE + 1)}
        name = go_rules.rules_name(self.rules)
        names = tuple(dict.fromkeys([name, *go_rules.played_rules()]))  # this game's rules first, none twice
        return (
            to_option("board_size", self.N, least=go_rules.MIN_SIZE, most=go_rules.MAX_SIZE, common=(9, 13, 19)),
            Option("komi", "Komi", self.komi, least=-400, most=400, step=0.5, usual=usual, follows="board_size"),
            Option("rules", "Rules", name, choices=names),
            # A handicap also sets the komi (`also`), and belongs to the position, not to the game (`at_start`).
            Option("handicap", "Handicap", 0, most=9, also={"komi": go_rules.HANDICAP_KOMI}, at_start=True),
        )

    def choose(self, **chosen: object) -> Self:
        """Return the same game with other values of some `options`; `rules`, a name, sets ko and suicide."""
        if "rules" in chosen:
            chosen |= go_rules.named_rules(str(chosen.pop("rules")))._asdict()
        return super().choose(**chosen)

    @property
    def summary(self) -> str:
        """A short text, such as '9x9, komi 7'; rules and turns are included if they are not the default."""
        rules = "" if self.rules == Rules() else f", {go_rules.rules_name(self.rules)} rules"
        turns = "" if self.turns is None else f", {self.turns} turns each"
        return f"{self.N}x{self.N}, komi {self.komi:g}{rules}{turns}"

    @classmethod
    def from_saved(cls, config: Mapping[str, Any]) -> Self:
        """Return the game with the board, komi, planes and rules of `config`, without its `selfplay_options`."""
        return cls(**{name: config[name] for name in ("board_size", "komi", "planes", "ko", "suicide", "turns")})

    def resized(self, size: int) -> "GoEnv":
        """Return the game on a board of another size, with that board's default komi.

        A game with fixed turns keeps its turns, and so its length and `first_pass`.  In any other game `max_moves`
        becomes the new board's default unless it is unlimited.  In such a game `first_pass` becomes 0, since it was
        meant for the old size.
        """
        if self.turns is not None:
            return self.replace(board_size=size, komi=None)
        cap = 0 if self.max_moves == go_rules.ENDLESS else None  # 0: no limit; None: the new board's default
        return self.replace(board_size=size, komi=None, max_moves=cap, first_pass=0)

    def selfplay_variant(self) -> Self:
        """Return the game with options that make self-play learn faster.

        margin_weight becomes 0.3, komi_spread 1 and first_pass 0.9 N^2, each only if it is 0 in this game.
        """
        return self.replace(
            margin_weight=self.margin_weight or 0.3,
            komi_spread=self.komi_spread or go_rules.USUAL_SPREAD,
            first_pass=self.first_pass or 9 * self.N * self.N // 10,
        )

    def player_view(self) -> Self:
        """Return the game that a player's search uses in a match of this game.

        Without fixed turns, it is this game itself.  With fixed turns, where a pass gives a turn away, it is the game
        in which a pass is legal only if there is no other move.
        """
        # Before ply `first_pass` a pass is legal only if there is no other move; here all plies are before it.
        return self if self.turns is None else self.replace(first_pass=self.max_moves)

    def random_setup(self, generator: np.random.Generator) -> dict[str, Any]:
        """Return a random komi for a game of self-play as {"komi": …}; {} if `komi_spread` is 0.

        The komi is normally distributed: in half of the games around `komi`, with a standard deviation of 2
        `komi_spread`; in the other half around `komi` / 2, with a standard deviation of 5 `komi_spread`. While networks
        are weak, Black needs these smaller komis.
        """
        if self.komi_spread == 0:
            return {}
        around_komi = generator.random() < 0.5
        mean, spreads = (self.komi, 2.0) if around_komi else (self.komi / 2, 5.0)
        drawn = generator.normal(mean, spreads * self.komi_spread)
        points = self.N * self.N
        return {"komi": float(np.clip(np.round(2 * drawn) / 2, -points, points))}  # a multiple of 0.5

    @cached_property
    def opening_actions(self) -> np.ndarray:
        """The actions from which random openings choose: the points off the edge, bool [action_space]."""
        inner = np.zeros(self.plane_shape, np.bool_)
        inner[1:-1, 1:-1] = True
        return np.append(inner.ravel(), False)  # no pass

    def match_variant(self) -> Self:
        """Return the game in which passing is always legal; without fixed turns, `max_moves` is also at least 4 N^2."""
        if self.turns is not None:
            return self.replace(first_pass=0)
        enough = 4 * self.N * self.N  # far more plies than games have before two passes end them
        return self.replace(max_moves=max(self.max_moves, enough), first_pass=0)

    def accepts(self, other: GameEnv) -> bool:
        """Return whether `other` is Go that differs at most in komi, random komis, `margin_weight` and `first_pass`."""
        names = ("N", "planes", "plane_set", "max_moves", "ko", "suicide", "turns")
        return isinstance(other, GoEnv) and all(getattr(self, name) == getattr(other, name) for name in names)

    def covers(self, position: Position) -> bool:
        """Return whether a number measured in this game, such as a resignation threshold, is valid in a position.

        It is valid in even games on the same board by the same rules, if the komi is within `komi_spread` of this
        game's, where self-play often draws it.
        """
        if not isinstance(position, GoPosition) or not position.is_even:
            return False
        same_rules = all(getattr(self, name) == getattr(position.env, name) for name in ("N", "ko", "suicide", "turns"))
        spread = self.komi_spread or go_rules.USUAL_SPREAD  # see `selfplay_variant`
        return same_rules and abs(position.komi - self.komi) <= spread

    def __repr__(self) -> str:
        defaults = GoEnv(self.N).config
        changed = [f"{name}={value!r}" for name, value in self.config.items() if value != defaults[name]]
        return f"{type(self).__name__}({', '.join([str(self.N), *changed])})"

    @cached_property
    def symmetries(self) -> Symmetries:
        return symmetry.square(self.N, extra_actions=1)

    @cached_property
    def start(self) -> GoStart:
        """The data from which every batch of this game is created."""
        ko = go_rules.KO_RULES[self.ko]
        row = np.zeros(layout.row_words(self.N, self.history, ko, self.max_moves), np.int32)
        row[layout.SIZE] = self.N
        row[layout.DEPTH] = self.history
        row[layout.KO_RULE] = ko
        row[layout.SUICIDE] = self.suicide
        # KataGo's planes show more last moves than the three which every row keeps.
        row[layout.FURTHER_LAST_MOVES] = go_katago.MOVES - 3 if self.plane_set == go_rules.KATAGO else 0
        row[layout.MAX_MOVES] = self.max_moves
        row[layout.FIRST_PASS] = self.first_pass
        row[layout.PASSES_TO_END] = 2 if self.turns is None else self.max_moves + 1  # more passes than a game can have
        # The size of the filter by which superko finds boards that occurred; simple ko needs none.
        row[layout.FILTER_BITS] = 0 if ko == layout.SIMPLE else layout.filter_bits(self.N, self.max_moves)
        kernels.lay_out(row)
        plane_indices = go_planes.plane_indices(self.plane_set) if self.plane_set in go_planes.SETS else None
        # The board on which ladders are read for KataGo's planes, always by simple ko.
        ladder_board = GoEnv(self.N, ko="simple").start.row if self.plane_set == go_rules.KATAGO else None
        return GoStart(row, plane_indices, ladder_board)

    def new_batch(self, count: int, device: str = "cpu") -> GoBatch | CudaGoBatch:
        """Return a batch of `count` start positions.

        Args:
            device: "cpu", "cuda" or "host".
        """
        if device == "cpu":
            return GoBatch(self, count)
        return CudaGoBatch(self, count, find_backend(device))

    @checks_keywords()
    def position(
        self,
        black: Stones = (),
        white: Stones = (),
        to_play: int | str | None = None,
        komi: float | None = None,
        *,
        board: np.ndarray | None = None,
        handicap: int = 0,
        move_number: int | None = None,
        captures: Sequence[int] | None = None,
        ko: int | str | None = None,
        history: Sequence[np.ndarray] = (),
    ) -> GoPosition:
        """Return the start position, or a position with the given stones.

        move_number, captures, ko and history are AlphaGo.jl's n, caps, ko and recent.

        Args:
            black, white: points as text ("D4 E5"), or a collection of texts or actions.
            to_play: "black" or "white" (or +1, -1); Black by default, White after a handicap.
            komi: White's points before the game; None for the komi of this game.
            board: all stones at once, [N, N] with 1 Black, -1 White, 0 empty, as `GoPosition.board`.
            handicap: number of Black's handicap stones, placed as in `handicap_points`; 0 for none.
            move_number: plies so far, which count for `max_moves` and `first_pass`; None for the number of plies in
                `history`.
            captures: the numbers of stones that Black and White have captured so far; None to count only the captures
                in `history`.
            ko: the point where the last move captured one stone, so that the side to move must not play there; None if
                there is no such point.  If `history` is given, `ko` must be None.
            history: earlier boards, oldest first, one legal move apart; they count for superko, for a network's planes
                and for `moves`.

        Raises:
            ValueError: for a stone off the board, two stones on one point, a chain without liberty, and arguments that
                contradict each other.
        """
        if handicap:
            black = [*go_rules.list_points(black), *go_rules.handicap_points(self.N, handicap)]
            to_play = "white" if to_play is None else to_play
        if board is not None:
            drawn = check_board(board, self.plane_shape).ravel()
            black = [*go_rules.list_points(black), *np.flatnonzero(drawn == 1).tolist()]
            white = [*go_rules.list_points(white), *np.flatnonzero(drawn == -1).tolist()]
        stones = self.place(black, white)
        mover = None if to_play is None else check_player(to_play)
        komi = None if komi is None else go_rules.check_komi(komi)
        boards = known_boards(self, stones, mover or 1, ko, history)
        known_plies = len(boards) - 1  # one ply leads from each board to the next
        plies = known_plies if move_number is None else check_int("move_number", move_number, 0, self.max_moves)
        if plies < known_plies:
            least = f"at least {known_plies}, the number of boards that history or ko tells of"
            raise ValueError(f"move_number must be {least}, got {plies}")
        # A function of a board and a side to move, which makes the earliest position that is known.
        start = partial(set_up, self, komi=komi, unknown_plies=plies - known_plies)
        position = follow(boards, mover, start) if known_plies else start(stones, mover or 1)
        if captures is None:
            return position
        setup = {**position.setup, "captures": earlier_captures(captures, position.captures)}
        return GoPosition(self, position.batch, setup, position.moves, position.movers)

    def position_of(self, batch: GameBatch, slot: int) -> GoPosition:
        """Return the position in a slot, with the stones as its set-up instead of the moves that led to it."""
        position = GoPosition(self, batch.extract(slot), {})  # to read the stones, which become its set-up below
        komi = None if position.komi == self.komi else position.komi
        setup = setup_keywords(self, position.board, position.to_play, komi, position.move_number)
        return GoPosition(self, position.batch, setup)

    def place(self, black: Stones, white: Stones) -> np.ndarray:
        """Return a board, int8 [N, N], with these stones: 1 Black, -1 White, 0 empty.

        Raises:
            ValueError: for a stone off the board or two stones on one point.
        """
        stones = np.zeros(self.N * self.N, np.int8)
        for colour, points in ((1, black), (-1, white)):
            for point in go_rules.list_points(points):
                action = self.from_text(point) if isinstance(point, str) else point
                if not is_int(action, 0) or action >= self.pass_action:
                    raise ValueError(f"stones must be on points of {self}, got {shown(point)}")
                if stones[action]:
                    raise ValueError(f"two stones were placed at {self.to_text(action)}")
                stones[action] = colour
        return stones.reshape(self.N, self.N)

"""GTP's commands for Go; a controller such as Sabaki or GoGui starts the engine as `alphago gtp [MODEL]`."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, TextIO

import numpy as np

from alphago import __version__
from alphago.env.board import check_player
from alphago.env.game import IllegalMove
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.env.go_rules import (
    MAX_SIZE,
    MIN_SIZE,
    check_komi,
    handicap_points,
    most_handicap,
    read_rules,
    rules_json,
)
from alphago.mcts.evaluator import UniformEvaluator
from alphago.mcts.player import MCTSPlayer
from alphago.mcts.rule import without_rash_passes
from alphago.system.validation import MOST_READOUTS, check_int
from alphago.ui.gtp.gtp_game import GtpGame
from alphago.ui.gtp.protocol import (
    Command,
    GtpFailure,
    argument,
    converse,
    integer,
    lines_of_stdin,
    number,
    replying,
    reserved_stdout,
)
from alphago.ui.gtp.time_control import Clock

WARM_UP = 8  # readouts of the searches that compile kernels and measure the first rate


def serve(
    env: GoEnv,
    network: Any = None,
    readouts: int = 800,
    *,
    resign_threshold: float | None = None,
    seed: int | None = None,
    komi: float | None = None,
    device: str = "auto",
    input: Iterable[str] | None = None,
    output: TextIO | None = None,
) -> None:
    """Speak GTP until `quit` or the end of input.

    network: as `MCTSPlayer` takes it, for boards of `env`'s size; "random" plays every legal action with the same
        probability, on any board.  Without one a search that knows only the rules plays on any board, and a line on
        stderr says so.
    readouts: simulations for each move, fewer where the clock demands it; 0 plays the network's most
        probable action without search.
    resign_threshold: `genmove` answers resign when the mover's value is below it; -1 is never.  None for the value
        that the network's run has measured in played-out games (`NeuralNet.resign_threshold`); it holds in games that
        begin on the empty board as those did, so not with a handicap.
    seed: of the choice among equally good moves.
    komi: White's points on every board until the controller sets komi; None for `env`'s komi on its own board, and for
        the default on another.
    device: for the network and the boards of its searches, as in `MCTSPlayer`.
    input, output: lines, and a text file; None for stdin and stdout, which is then reserved for the protocol.
    """
    with contextlib.ExitStack() as stack:
        if output is None or output is sys.stdout:
            output = stack.enter_context(reserved_stdout())
        engine = GoEngine(
            env, network, readouts, resign_threshold=resign_threshold, seed=seed, komi=komi, device=device
        )
        converse(engine.commands, lines_of_stdin() if input is None else input, output)


class GoEngine:
    """An engine whose `commands` are GTP's by name; arguments as in `serve`, and `now`, a clock in seconds."""

    def __init__(
        self,
        env: GoEnv,
        network: Any = None,
        readouts: int = 800,
        *,
        resign_threshold: float | None = None,
        seed: int | None = None,
        komi: float | None = None,
        device: str = "auto",
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        check_int("readouts", readouts, 0, MOST_READOUTS)
        if network is None:
            print_message("no model was given: a search that knows only the rules is playing")
        self.env = env
        self.at_random = isinstance(network, str) and network == "random"
        self.network = UniformEvaluator() if network is None or self.at_random else network
        self.any_size = network is None or self.at_random or getattr(network, "size_free", False)
        self.readouts = readouts
        self.resign_threshold = resign_threshold
        if resign_threshold is None:
            getattr(self.network, "resign_threshold", None)  # raises now, not in a game, for a note that is no number
        self.seed = seed
        self.generator = np.random.default_rng(seed)
        self.device = device
        self.now = now
        self.clock = Clock()
        self.rules = env.rules
        self.komi = None if komi is None else check_komi(komi)  # None: each board's default
        self.commands: dict[str, Command] = {
            "name": lambda arguments: "alphago",
            "version": lambda arguments: __version__,
            "boardsize": self.boardsize,
            "clear_board": self.clear_board,
            "komi": self.set_komi,
            "play": self.play,
            "genmove": self.genmove,
            "undo": self.undo,
            "showboard": lambda arguments: f"\n{self.game.position}",
            "final_score": self.final_score,
            "fixed_handicap": self.fixed_handicap,
            "place_free_handicap": self.place_free_handicap,
            "set_free_handicap": self.set_free_handicap,
            "kgs-rules": self.set_rules,
            "kata-set-rules": self.set_rules,
            "kata-get-rules": lambda arguments: rules_json(self.game.env.rules),
            "time_settings": self.time_settings,
            "time_left": self.time_left,
        }
        self.open_board(env.N)

    def open_board(self, size: int) -> None:
        """Set up an empty board and a player for it."""
        given = self.env if size == self.env.N else self.env.resized(size)
        # A controller does not know the ply limits, fixed turns and late passes of self-play.
        limit = max(given.max_moves, 3 * size * size)
        env = given.replace(max_moves=limit, turns=None, first_pass=0, **self.rules._asdict())
        self.game = GtpGame(env, env.komi if self.komi is None else self.komi)
        self.clock.reset()
        if self.at_random:
            return
        self.player = MCTSPlayer(
            env, self.network, max(1, self.readouts), True, self.resign_threshold, seed=self.seed, device=self.device
        )
        self.evaluator = self.player.search.evaluator
        self.evaluate(self.game.position)
        self.player.tree_search(WARM_UP)  # kernels are compiled here, not on the clock
        begin = self.now()
        self.player.tree_search(WARM_UP)
        self.rate = WARM_UP / max(self.now() - begin, 1e-6)  # readouts a second
        self.player.initialize_game(self.game.position)

    # -- commands: arguments in, the reply's text out ----------------------------------------------

    def boardsize(self, arguments: list[str]) -> str:
        size = integer(argument(arguments, 0))
        if not (MIN_SIZE <= size <= MAX_SIZE if self.any_size else size == self.env.N):
            raise GtpFailure("unacceptable size")
        if size == self.game.env.N:
            return self.clear_board([])
        self.open_board(size)
        return ""

    def clear_board(self, arguments: list[str]) -> str:
        self.game.clear()
        self.clock.reset()
        return ""

    def set_komi(self, arguments: list[str]) -> str:
        """Set komi, for this game and later ones."""
        try:
            komi = check_komi(number(argument(arguments, 0)))
        except ValueError as error:
            raise GtpFailure(str(error)) from None
        self.komi = komi
        self.game.set_komi(komi)
        return ""

    def set_rules(self, arguments: list[str]) -> str:
        """Set ko and suicide, before the first move, for this game and later ones; the score is always the area.

        Names are those of KGS and SGF, or KataGo's long form.
        """
        rules = read_rules(argument(arguments, 0))
        if rules is None:
            raise GtpFailure("unknown rules")
        self.expect_empty()
        self.rules = rules
        if rules != self.game.env.rules:
            self.open_board(self.game.env.N)
        return ""

    def expect_empty(self) -> None:
        if self.game.plays or self.game.handicap:
            raise GtpFailure("board not empty")

    def fixed_handicap(self, arguments: list[str]) -> str:
        """Place Black's handicap stones at their fixed points, and return these points."""
        count, size = integer(argument(arguments, 0)), self.game.env.N
        self.expect_empty()
        with replying("invalid number of stones"):
            stones = handicap_points(size, count)
        self.game.give_handicap(stones)
        return " ".join(map(self.game.env.to_text, stones))

    def place_free_handicap(self, arguments: list[str]) -> str:
        """Place as many of the stones as have fixed points; GTP allows fewer than asked for."""
        count, most = integer(argument(arguments, 0)), most_handicap(self.game.env.N)
        if count < 2 or not most:
            raise GtpFailure("invalid number of stones")
        return self.fixed_handicap([str(min(count, most))])

    def set_free_handicap(self, arguments: list[str]) -> str:
        self.expect_empty()
        with replying("bad vertex list"):
            stones = {self.game.env.from_text(word) for word in arguments}
        if not 2 <= len(stones) == len(arguments) < self.game.env.N**2 or self.game.env.pass_action in stones:
            raise GtpFailure("bad vertex list")
        self.game.give_handicap(list(stones))
        return ""

    def play(self, arguments: list[str]) -> str:
        colour = player(argument(arguments, 0))
        text = argument(arguments, 1)
        with replying("invalid color or coordinate"):
            action = self.game.env.from_text(text)
        try:
            self.game.play(colour, action)
        except IllegalMove as reason:
            print_message(str(reason))
            raise GtpFailure("illegal move") from None
        return ""

    def genmove(self, arguments: list[str]) -> str:
        colour, begin = player(argument(arguments, 0)), self.now()
        action: int | None = self.game.env.pass_action
        if not self.game.is_over:
            action = self.think(colour)
        self.clock.spend(colour, self.now() - begin)
        if action is None:
            return "resign"
        self.game.play(colour, action)
        return self.game.env.to_text(action)

    def undo(self, arguments: list[str]) -> str:
        if not self.game.plays:
            raise GtpFailure("cannot undo")
        self.game.undo()
        return ""

    def final_score(self, arguments: list[str]) -> str:
        """Return the Tromp-Taylor score of the board as it stands."""
        margin = self.game.position.score()
        return f"B+{margin:g}" if margin > 0 else f"W+{-margin:g}" if margin < 0 else "0"

    def time_settings(self, arguments: list[str]) -> str:
        main, period, stones = (integer(argument(arguments, i)) for i in range(3))
        if min(main, period, stones) < 0:
            raise GtpFailure("syntax error")
        self.clock.set_limits(main, period, stones)
        return ""

    def time_left(self, arguments: list[str]) -> str:
        colour = player(argument(arguments, 0))
        self.clock.set_left(colour, number(argument(arguments, 1)), max(0, integer(argument(arguments, 2))))
        return ""

    # -- thinking ----------------------------------------------------------------------------------

    def think(self, colour: int) -> int | None:
        """Return the action to play, or None to resign."""
        position = self.game.ready(colour)
        if self.at_random:
            return int(self.generator.choice(np.flatnonzero(position.legal_mask)))
        self.catch_up(position)
        readouts = self.readouts_in_time(colour)
        if readouts == 0:
            action, value = self.evaluate(position)
            return None if self.player.should_resign(value) else action
        self.player.num_readouts = readouts
        begin, before = self.now(), max(1, self.player.root_visits)
        action = self.player.suggest_move()
        done = self.player.root_visits - before  # fewer than planned where the choice was certain
        if done:
            self.rate = (self.rate + done / max(self.now() - begin, 1e-6)) / 2
        return None if self.player.should_resign() else action

    def catch_up(self, position: GoPosition) -> None:
        """Bring the player to the position; its tree is kept if the position follows from its own."""
        before = self.player.position
        if before.setup == position.setup and position.moves[: len(before.moves)] == before.moves:
            for action in position.moves[len(before.moves) :]:
                self.player.play_move(action)
        else:
            self.player.initialize_game(position)

    def readouts_in_time(self, colour: int) -> int:
        """Return the readouts for the next move: `readouts`, or as many as the clock allows at the measured rate."""
        points = self.game.env.N**2
        moves = max(0.9 * points - len(self.game.plays), 0.3 * points) / 2
        seconds = self.clock.share(colour, round(moves))
        return int(min(self.readouts, self.rate * seconds))

    def evaluate(self, position: GoPosition) -> tuple[int, float]:
        """Return the network's most probable action, except passes that lose a won game, and the mover's value."""
        priors, values = np.empty((1, position.env.action_space), np.float32), np.empty(1, np.float32)
        self.evaluator.evaluate(position.batch, np.zeros(1, np.int64), priors, values)
        priors = np.where(position.legal_mask, priors, 0)
        outcomes = np.array([position.to_play * position.outcome])
        return int(without_rash_passes(position.env, priors, values, outcomes)[0].argmax()), float(values[0])


def player(text: str) -> int:
    """Return +1 for b or black, -1 for w or white, upper or lower case; raise GtpFailure for anything else."""
    with replying("invalid color or coordinate"):
        return check_player(text)


def print_message(text: str) -> None:
    """Print a message for people, one line on stderr."""
    print(f"alphago gtp: {text}", file=sys.stderr, flush=True)

"""What the GTP commands do.

Sabaki, GoGui, a referee or a person at a keyboard starts it as `alphago gtp [MODEL]`.
"""

import contextlib
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, TextIO

import numpy as np

from alphago import __version__
from alphago.env.game import IllegalMove
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.env.go_rules import MAX_SIZE, MIN_SIZE, check_komi, handicap_points, most_handicap, read_rules, rules_json
from alphago.mcts.evaluator import UniformEvaluator, as_evaluator
from alphago.mcts.player import MCTSPlayer
from alphago.system.validation import MOST_READOUTS, check_int
from alphago.ui.gtp.arguments import argument, number, player, whole
from alphago.ui.gtp.gtp_game import GtpGame
from alphago.ui.gtp.protocol import Command, GtpFailure, converse, lines_of_stdin, reserved_stdout
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
    """Speaks GTP until `quit` or the end of input.

    network: whatever `MCTSPlayer` takes, for boards of `env`'s size.  Without one a search that knows
        only the rules plays on any board, and says so on stderr.
    readouts: simulations for each move, fewer where the clock demands it; 0 plays the network's most
        probable action without search.
    resign_threshold: `genmove` answers resign when the mover's value is below it; -1 is never.  None for what the
        network's run has measured against played-out games (`NeuralNet.resign_threshold`), in games that begin on the
        empty board as those did: with a handicap nobody resigns then.
    seed: of the choice among equally good moves.
    komi: White's points on every board until the controller tells them; None for `env`'s on its board, and on
        another one the usual ones.
    device: where the network is computed and the boards of its searches are, as `MCTSPlayer` has it.
    input, output: lines and a text file; by default stdin, and stdout, to which then nobody else can write.
    """
    with contextlib.ExitStack() as stack:
        if output is None or output is sys.stdout:
            output = stack.enter_context(reserved_stdout())
        engine = GoEngine(
            env, network, readouts, resign_threshold=resign_threshold, seed=seed, komi=komi, device=device
        )
        converse(engine.commands, lines_of_stdin() if input is None else input, output)


class GoEngine:
    """`commands` maps the names of GTP's Go commands to what they do.

    now: a clock in seconds, `time.monotonic` unless a test has another one.
    """

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
            say("no model was given: a search that knows only the rules is playing")
        self.env = env
        self.network = UniformEvaluator() if network is None else network
        self.any_size = network is None or getattr(network, "size_free", False)
        self.readouts = readouts
        self.resign_threshold = resign_threshold
        self.seed = seed
        self.device = device
        self.now = now
        self.clock = Clock()
        self.rules = env.rules
        self.komi = None if komi is None else check_komi(komi)  # None: the one of each board's environment
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
        """An empty board and a player for it."""
        given = self.env if size == self.env.N else self.env.resized(size)
        # A controller knows nothing of the ply limits, fixed turns and late passes of self-play.
        limit = max(given.max_moves, 3 * size * size)
        env = given.replace(max_moves=limit, turns=None, first_pass=0, **self.rules._asdict())
        self.game = GtpGame(env, env.komi if self.komi is None else self.komi)
        self.evaluator = as_evaluator(self.network, env, self.device)
        self.player = MCTSPlayer(
            env,
            self.evaluator,
            max(1, self.readouts),
            two_player_mode=True,
            seed=self.seed,
        )
        self.raw(self.game.position)
        self.player.tree_search(WARM_UP)  # kernels are compiled here, not on the clock
        self.rate = self.measured(WARM_UP)  # readouts a second
        self.player.initialize_game(self.game.position)
        self.clock.reset()

    def measured(self, readouts: int) -> float:
        """Searches and returns the rate, readouts a second."""
        begin = self.now()
        self.player.tree_search(readouts)
        return readouts / max(self.now() - begin, 1e-6)

    # -- commands: arguments in, the reply's text out ----------------------------------------------

    def boardsize(self, arguments: list[str]) -> str:
        size = whole(argument(arguments, 0))
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
        """Holds for the games to come too."""
        try:
            komi = check_komi(number(argument(arguments, 0)))
        except ValueError as error:
            raise GtpFailure(str(error)) from None
        self.komi = komi
        self.game.set_komi(komi)
        return ""

    def set_rules(self, arguments: list[str]) -> str:
        """Ko and suicide, before the first move, for the games to come too; the score stays the area.

        Names are those of KGS and SGF, also in KataGo's long form.
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
        """Black's stones at the usual places, which are the reply."""
        count, size = whole(argument(arguments, 0)), self.game.env.N
        self.expect_empty()
        try:
            stones = handicap_points(size, count)
        except ValueError:
            raise GtpFailure("invalid number of stones") from None
        self.game.give_handicap(stones)
        return " ".join(map(self.game.env.to_text, stones))

    def place_free_handicap(self, arguments: list[str]) -> str:
        """As many of the stones asked for as have a usual place, which GTP allows."""
        count, most = whole(argument(arguments, 0)), most_handicap(self.game.env.N)
        if count < 2 or not most:
            raise GtpFailure("invalid number of stones")
        return self.fixed_handicap([str(min(count, most))])

    def set_free_handicap(self, arguments: list[str]) -> str:
        self.expect_empty()
        try:
            stones = {self.game.env.from_text(word) for word in arguments}
        except ValueError:
            raise GtpFailure("bad vertex list") from None
        if not 2 <= len(stones) == len(arguments) < self.game.env.N**2 or self.game.env.pass_action in stones:
            raise GtpFailure("bad vertex list")
        self.game.give_handicap(list(stones))
        return ""

    def play(self, arguments: list[str]) -> str:
        colour = player(argument(arguments, 0))
        try:
            action = self.game.env.from_text(argument(arguments, 1))
        except ValueError:
            raise GtpFailure("invalid color or coordinate") from None
        try:
            self.game.play(colour, action)
        except IllegalMove as reason:
            say(str(reason))
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
        """Tromp and Taylor's count of the board as it stands."""
        margin = self.game.position.score()
        return f"B+{margin:g}" if margin > 0 else f"W+{-margin:g}" if margin < 0 else "0"

    def time_settings(self, arguments: list[str]) -> str:
        main, period, stones = (whole(argument(arguments, i)) for i in range(3))
        if min(main, period, stones) < 0:
            raise GtpFailure("syntax error")
        self.clock.settings(main, period, stones)
        return ""

    def time_left(self, arguments: list[str]) -> str:
        colour = player(argument(arguments, 0))
        self.clock.tell(colour, number(argument(arguments, 1)), max(0, whole(argument(arguments, 2))))
        return ""

    # -- thinking ----------------------------------------------------------------------------------

    def think(self, colour: int) -> int | None:
        """The action to play, or None to resign."""
        position = self.game.ready(colour)
        self.catch_up(position)
        readouts = self.affordable(colour)
        if readouts == 0:
            action, value = self.raw(position)
            return None if value < self.threshold(position) else action
        self.player.num_readouts = readouts
        begin, before = self.now(), max(1, self.player.root_visits)
        action = self.player.suggest_move()
        done = self.player.root_visits - before  # fewer than planned where the choice was certain
        if done:
            self.rate = (self.rate + done / max(self.now() - begin, 1e-6)) / 2
        self.player.resign_threshold = self.threshold(position)
        return None if self.player.should_resign() else action

    def threshold(self, position: GoPosition) -> float:
        """The value below which the mover resigns here."""
        if self.resign_threshold is not None:
            return self.resign_threshold
        return getattr(self.network, "resign_threshold", -1.0) if position.began_empty else -1.0

    def catch_up(self, position: GoPosition) -> None:
        """Brings the player to the position, with its tree where that lies ahead."""
        at = self.player.position
        if at.setup == position.setup and position.moves[: len(at.moves)] == at.moves:
            for action in position.moves[len(at.moves) :]:
                self.player.play_move(action)
        else:
            self.player.initialize_game(position)

    def affordable(self, colour: int) -> int:
        """Readouts for the next move: all of them, or what the clock allows at the rate so far."""
        points = self.game.env.N**2
        moves = max(0.9 * points - len(self.game.plays), 0.3 * points) / 2
        seconds = self.clock.share(colour, round(moves))
        return int(min(self.readouts, self.rate * seconds))

    def raw(self, position: GoPosition) -> tuple[int, float]:
        """The network's most probable legal action and its value for the mover, without search."""
        priors, values = np.empty((1, position.env.action_space), np.float32), np.empty(1, np.float32)
        self.evaluator.evaluate(position.batch, np.zeros(1, np.int64), priors, values)
        return int(np.argmax(np.where(position.legal_mask, priors[0], -1))), float(values[0])


def say(text: str) -> None:
    """A line for people, beside the protocol."""
    print(f"alphago gtp: {text}", file=sys.stderr, flush=True)

"""`GtpEngine`: the state of a GTP engine, and how it chooses moves."""

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alphago.env.devices import choose_device
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.env.go_rules import Rules, check_komi
from alphago.env.position import IllegalMove
from alphago.mcts.analysis_result import Analysis
from alphago.mcts.analysis_search import Forbidden
from alphago.mcts.evaluator import UniformEvaluator
from alphago.mcts.levels import EVEN, LEVELS, Level, check_level
from alphago.mcts.player import MCTSPlayer
from alphago.system.validation import MOST_READOUTS, check_float, check_int, printable
from alphago.ui.analysis_networks import analysed_game
from alphago.ui.gtp.background import BackgroundSearch
from alphago.ui.gtp.gtp_game import GtpGame
from alphago.ui.gtp.parameters import Parameters
from alphago.ui.gtp.protocol import GtpFailure
from alphago.ui.gtp.time_control import Clock
from alphago.ui.thinker import MoveLimit, Thinker


@dataclass
class Reports:
    """What is reported during the search for a move: `report` is called with the analysis every `interval` seconds.

    move_ownership: whether the analysis has the ownership after each move.
    """

    report: Callable[[Analysis], None]
    interval: float
    move_ownership: bool = False

    def tell(self, player: MCTSPlayer) -> None:
        """Report what a player's search has found so far."""
        self.report(player.analysis(move_ownership=self.move_ownership))


class GtpEngine:
    """A game, a clock and a search; arguments as in `serve`, and `now`, a function that returns the time in seconds."""

    def __init__(
        self,
        env: GoEnv,
        network: object = None,
        readouts: int = 800,
        *,
        resign_threshold: float | None = None,
        seed: int | None = None,
        komi: float | None = None,
        device: str = "auto",
        ponder: bool = False,
        networks: Callable[[int], tuple[GoEnv, Any]] | None = None,
        level: Level | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        check_int("readouts", readouts, 0, MOST_READOUTS)
        if network is None:
            print_message("no model was given: playing with a search without a network")
        self.env = env
        self.at_random = isinstance(network, str) and network == "random"
        has_network = network is not None and not self.at_random
        self.network = network if has_network else UniformEvaluator()
        self.networks = networks
        self.any_size = networks is not None or not has_network or getattr(network, "size_free", False)
        if resign_threshold is None:
            getattr(self.network, "resign_threshold", None)  # an invalid one raises here rather than during a game
        else:
            check_float("resign_threshold", resign_threshold, -1, 1)
        level = LEVELS if level is None else check_level(level)
        self.parameters = Parameters(readouts, resign_threshold=resign_threshold, ponder=ponder, level=level)
        self.seed = seed
        self.generator = np.random.default_rng(seed)
        self.device = device
        self.now = now
        self.background = BackgroundSearch()
        self.clock = Clock()
        self.seconds = 0.0  # spent on moves so far
        self.pondering = False  # whether to search while waiting for a command
        self.rules = env.rules
        self.komi = None if komi is None else check_komi(komi)  # None: each board's default
        self.open_board(env.N)

    def board(self, size: int, rules: Rules) -> GoEnv:
        """Return the game for a size and rules, without the options that only help self-play.

        Its `turns` is None, its `first_pass` 0, and its `max_moves` at least 3 size².
        """
        return analysed_game(self.given_on(size)[0], size, rules)

    def given_on(self, size: int) -> tuple[GoEnv, Any]:
        """Return the game and the network for a board."""
        if self.networks is not None:
            return self.networks(size)
        env = self.env if size == self.env.N else self.env.resized(size)
        return env, self.network

    def open_board(self, size: int) -> None:
        """Begin a game on an empty board."""
        env = self.board(size, self.rules)
        self.take_game(GtpGame(env, env.komi if self.komi is None else self.komi))

    def take_game(self, game: GtpGame) -> None:
        """Continue with `game`; later games have its rules too."""
        before = getattr(self, "game", None)
        self.game, self.rules = game, game.env.rules
        self.clock.reset()
        self.pondering = False
        if not self.at_random and (before is None or before.env != game.env):
            self.open_search()

    def open_search(self) -> None:
        """Create a search for the current board and parameters."""
        self.background.join()
        self.network = self.given_on(self.game.env.N)[1]
        # On a GPU, searches for moves keep their boards there; analysis needs them on the CPU.
        on_cpu = self.device == "cpu" or (self.device == "auto" and choose_device(self.game.env) == "cpu")
        self.thinker = self.new_thinker(forecasts=on_cpu)
        self._analyst = self.thinker if on_cpu else None
        self.rate = self.thinker.warm_up()  # readouts a second; measured before any clock runs

    def new_thinker(self, forecasts: bool) -> Thinker:
        """Return a thinker for the current board and parameters; forecasts: as in `MCTSPlayer`."""
        player = MCTSPlayer(
            self.game.env,
            self.network,
            two_player_mode=True,
            resign_threshold=self.parameters.resign_threshold,
            settings=self.parameters.settings(),
            seed=self.seed,
            device=self.device,
            forecasts=forecasts,
        )
        return Thinker(player, now=self.now)

    @property
    def analyst(self) -> Thinker:
        """The thinker used for analysis: the same one on the CPU, a second one with a GPU."""
        if self._analyst is None:
            self._analyst = self.new_thinker(forecasts=True)
        return self._analyst

    def thinker_at(self, position: GoPosition, rules: Sequence[Forbidden] = (), *, analyst: bool = False) -> Thinker:
        """End the background search, and return the thinker after it went to a position.

        rules: moves that the search must not try. analyst: whether it is the one for analysis, as it is with `rules`.
        """
        self.background.join()
        thinker = self.analyst if analyst or rules else self.thinker
        thinker.follow(position, rules)
        return thinker

    def look(self, position: GoPosition) -> Analysis:
        """Return the analysis of a position from the search that was done there, without searching more."""
        return self.thinker_at(position, analyst=True).player.analysis()

    def analyse(self, position: GoPosition, reports: Reports, rules: Sequence[Forbidden]) -> None:
        """Search a position in the background until the next command, with reports; rules: as in `thinker_at`."""
        player = self.thinker_at(position, rules, analyst=True).player
        self.background.start(player, lambda: reports.tell(player), reports.interval)

    def forget(self) -> None:
        """Clear the trees."""
        self.background.join()
        for thinker in {self.thinker, self._analyst or self.thinker}:
            thinker.player.initialize_game()

    def set_resign_threshold(self, value: float) -> None:
        """Set the value below which the engine resigns."""
        self.parameters.resign_threshold = value
        if not self.at_random:
            self.background.join()
            for thinker in {self.thinker, self._analyst or self.thinker}:
                thinker.player.resign_threshold = value

    def idle(self) -> None:
        """Ponder while waiting for a command, if that is enabled; the search for the next move keeps the tree."""
        if self.pondering and not self.at_random and not self.game.is_over:
            self.background.start(self.thinker_at(self.game.ready(self.game.to_play)).player)

    def awake(self) -> None:
        """Stop the background search."""
        self.background.stop()

    def change_rules(self, rules: Rules) -> None:
        """Continue the game under other rules; fail, and change nothing, if a move of the game breaks them."""
        again = GtpGame(self.game.env.replace(**rules._asdict()), self.game.komi)
        again.loaded = self.game.loaded
        again.set_up(self.game.stones.get("black", ()), self.game.stones.get("white", ()), self.game.first)
        try:
            again.restart(self.game.plays)
        except IllegalMove as reason:
            print_message(str(reason))
            raise GtpFailure("the game is illegal under these rules") from None
        self.take_game(again)

    def move(
        self, colour: int, reports: Reports | None = None, rules: Sequence[Forbidden] = (), over: bool | None = None
    ) -> str:
        """Choose and play a move of a colour, on its clock, and return it as text.

        rules: moves that the search must not try. reports: what to report during the search; None for nothing.
        over: whether the game is over, so that the move is a pass; None: it is over if the last two plays were passes,
        one of each colour.
        """
        begin = self.now()
        action: int | None = self.game.env.pass_action
        if not (self.game.is_over if over is None else over):
            action = self.think(colour, reports=reports, rules=rules)
        spent = self.now() - begin
        self.seconds += spent
        self.clock.spend(colour, spent)
        if action is None:
            return "resign"
        self.game.play(colour, action)
        self.pondering = self.parameters.ponder
        return self.game.env.to_text(action)

    def think(
        self, colour: int, *, may_resign: bool = True, reports: Reports | None = None, rules: Sequence[Forbidden] = ()
    ) -> int | None:
        """Return the action to play, or None to resign.

        may_resign: whether resigning is allowed. reports, rules: as in `move`.
        """
        position = self.game.ready(colour)
        if self.at_random:  # without a search
            return int(self.generator.choice(np.flatnonzero(position.legal_mask)))
        level = LEVELS if rules else self.parameters.level  # only a search of full strength can forbid moves
        thinker = self.thinker_at(position, rules, analyst=reports is not None or level != LEVELS)
        if level == LEVELS:
            action = self.search(thinker, self.seconds_for(colour), reports)
        else:
            action = thinker.player.level_move(level)
            if level == EVEN:
                print_message(f"{thinker.player.opponent.estimate(position)}.")
            if reports is not None:
                reports.tell(thinker.player)
        resigns = may_resign and self.parameters.allow_resignation and thinker.player.should_resign()
        return None if resigns else action

    def search(self, thinker: Thinker, seconds: float, reports: Reports | None) -> int:
        """Return the move after the readouts that fit into `seconds` seconds by the rate so far.

        reports: as in `move`; the last report comes at the end of the search.
        """
        player, readouts = thinker.player, int(min(self.parameters.readouts, self.rate * seconds))
        begin, visits = self.now(), max(1, player.root_visits)  # the root's own evaluation is no readout
        due = time.monotonic() + (math.inf if reports is None else reports.interval)

        def report(done: int) -> None:
            nonlocal due
            if reports is not None and time.monotonic() >= due and done < readouts:
                due = time.monotonic() + reports.interval
                reports.tell(player)

        action = thinker.choose(MoveLimit(readouts), None if reports is None else report)
        done = player.root_visits - visits  # fewer than planned if the choice was certain before
        if done > 0:  # the rate is a running mean
            self.rate = (self.rate + done / max(self.now() - begin, 1e-6)) / 2
        if reports is not None:
            reports.tell(player)
        return action

    def seconds_for(self, colour: int) -> float:
        """Return the seconds for the next move of a colour: its share of the clock, at most `max_time`."""
        points = self.game.env.N**2
        moves = max(0.9 * points - len(self.game.plays), 0.3 * points) / 2
        return min(self.clock.share(colour, round(moves)), self.parameters.max_time)


def print_message(text: str) -> None:
    """Print a message to stderr, since stdout belongs to the protocol."""
    print(f"alphago gtp: {printable(text)}", file=sys.stderr, flush=True)

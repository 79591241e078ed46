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
from alphago.system.validation import MOST_READOUTS, check_float, check_int, printable, shortened
from alphago.ui.analysis_networks import analysed_game
from alphago.ui.gtp.background import BackgroundSearch
from alphago.ui.gtp.gtp_game import GtpGame
from alphago.ui.gtp.parameters import Parameters
from alphago.ui.gtp.protocol import GtpFailure
from alphago.ui.gtp.time_control import Clock
from alphago.ui.thinker import MoveLimit, Thinker

# For sharing out the time on the clock, in plays for each point of the board:
GAME_LENGTH = 0.9  # the length of a game
LONGEST_MESSAGE = 1000  # letters
LEAST_LEFT = 0.3  # the least number of plays that are taken to be left


@dataclass
class Reports:
    """How to report during the search for a move.

    report: called with the analysis so far.  interval: seconds between two calls.
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
        level = LEVELS if level is None else check_level(level)  # LEVELS is full strength
        self.parameters = Parameters(readouts, resign_threshold=resign_threshold, ponder=ponder, level=level)
        self.seed = seed
        self.generator = np.random.default_rng(seed)
        self.device = device
        self.now = now
        self.background = BackgroundSearch()
        self.clock = Clock()
        self.seconds = 0.0  # spent on moves so far
        self.pondering = False  # whether to search at present while waiting for a command
        self.rules = env.rules
        self.komi = None if komi is None else check_komi(komi)  # None: each board's default
        self.open_board(env.N)

    def board(self, size: int, rules: Rules) -> GoEnv:
        """Return the game for a board size and rules, without the options that only help self-play."""
        env, _ = self.given_on(size)
        return analysed_game(env, size, rules)

    def given_on(self, size: int) -> tuple[GoEnv, Any]:
        """Return the user's game and network for a board size."""
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
        before = getattr(self, "game", None)  # None: this is the engine's first game
        self.game, self.rules = game, game.env.rules
        self.clock.reset()
        self.pondering = False
        if not self.at_random and (before is None or before.env != game.env):
            self.open_search()

    def open_search(self) -> None:
        """Create a search for the current board and parameters."""
        self.background.join()
        _, self.network = self.given_on(self.game.env.N)
        # On a GPU, searches for moves keep their boards in its memory; analysis needs boards in the CPU's memory.
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

    @property
    def thinkers(self) -> list[Thinker]:
        """The thinkers made so far, each once."""
        has_other = self._analyst is not None and self._analyst is not self.thinker
        return [self.thinker, self.analyst] if has_other else [self.thinker]

    def thinker_at(self, position: GoPosition, rules: Sequence[Forbidden] = (), *, analyst: bool = False) -> Thinker:
        """End the background search, put a thinker on a position, and return the thinker.

        rules: moves that the search must not try; they need the thinker for analysis.
        analyst: whether to take the thinker for analysis even without `rules`.
        """
        self.background.join()
        thinker = self.analyst if analyst or rules else self.thinker
        thinker.follow(position, rules)
        return thinker

    def look(self, position: GoPosition) -> Analysis:
        """Return the analysis of a position by the search so far, without searching more."""
        return self.thinker_at(position, analyst=True).player.analysis()

    def analyse(self, position: GoPosition, reports: Reports, rules: Sequence[Forbidden]) -> None:
        """Search a position in the background until the next command, with reports; rules: as in `thinker_at`."""
        player = self.thinker_at(position, rules, analyst=True).player
        self.background.start(player, lambda: reports.tell(player), reports.interval)

    def forget(self) -> None:
        """Clear the trees."""
        self.background.join()
        for thinker in self.thinkers:
            thinker.player.initialize_game()

    def set_resign_threshold(self, value: float) -> None:
        """Set the value below which the engine resigns."""
        self.parameters.resign_threshold = value
        if not self.at_random:
            self.background.join()
            for thinker in self.thinkers:
                thinker.player.resign_threshold = value

    def idle(self) -> None:
        """Ponder while waiting for a command, if that is on; the search for the next move goes on with the tree."""
        can_search = not self.at_random and not self.game.is_over
        if self.pondering and can_search:
            self.background.start(self.thinker_at(self.game.ready(self.game.to_play)).player)

    def awake(self) -> None:
        """Stop the background search."""
        self.background.stop()

    def change_rules(self, rules: Rules) -> None:
        """Continue the game under other rules; fail, and change nothing, if one of its moves is illegal under them."""
        before = self.game
        game = GtpGame(before.env.replace(**rules._asdict()), before.komi)
        game.loaded = before.loaded
        game.set_up(before.stones.get("black", ()), before.stones.get("white", ()), before.first)
        try:
            game.restart(before.plays)
        except IllegalMove as reason:
            print_message(str(reason))
            raise GtpFailure("the game is illegal under these rules") from None
        self.take_game(game)

    def move(
        self, colour: int, reports: Reports | None = None, rules: Sequence[Forbidden] = (), over: bool | None = None
    ) -> str:
        """Choose and play a move of a colour, on its clock, and return it as text.

        rules: moves that the search must not try. reports: what to report during the search; None for nothing.
        over: whether the game is over, so that the move is a pass; None for `GtpGame.is_over`.
        """
        begin = self.now()
        if over is None:
            over = self.game.is_over
        action = self.game.env.pass_action if over else self.think(colour, reports=reports, rules=rules)
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
        if self.at_random:
            return int(self.generator.choice(np.flatnonzero(position.legal_mask)))
        level = LEVELS if rules else self.parameters.level  # moves can be forbidden only at full strength
        at_full_strength = level == LEVELS
        thinker = self.thinker_at(position, rules, analyst=reports is not None or not at_full_strength)
        if at_full_strength:
            action = self.search(thinker, self.seconds_for(colour), reports)
        else:
            action = thinker.player.level_move(level, self.seconds_for(colour))
            if level == EVEN:  # say how strong the opponent seems to be, by the moves that were searched
                print_message(f"{thinker.player.opponent.estimate(position, seconds=-1)}.")
            if reports is not None:
                reports.tell(thinker.player)
        resigns = may_resign and self.parameters.allow_resignation and thinker.player.should_resign()
        return None if resigns else action

    def search(self, thinker: Thinker, seconds: float, reports: Reports | None) -> int:
        """Return the move of a search whose readouts, at the present rate, fit into `seconds` seconds.

        reports: as in `move`; the last report comes at the end of the search.
        """
        player = thinker.player
        readouts = int(min(self.parameters.readouts, self.rate * seconds))
        begin = self.now()
        visits_before = max(1, player.root_visits)  # the first visit is the root's own evaluation, which is no readout
        due = time.monotonic() + (math.inf if reports is None else reports.interval)

        def report(done: int) -> None:
            nonlocal due
            is_last = done >= readouts  # the report at the end comes below
            if reports is not None and time.monotonic() >= due and not is_last:
                due = time.monotonic() + reports.interval
                reports.tell(player)

        action = thinker.choose(MoveLimit(readouts), None if reports is None else report)
        readouts_done = player.root_visits - visits_before  # less than `readouts` if the move was certain earlier
        if readouts_done > 0:
            latest_rate = readouts_done / max(self.now() - begin, 1e-6)
            self.rate = (self.rate + latest_rate) / 2
        if reports is not None:
            reports.tell(player)
        return action

    def seconds_for(self, colour: int) -> float:
        """Return the seconds for the next move of a colour: its share of the clock, at most `max_time`."""
        points = self.game.env.N**2
        plays_left = max(GAME_LENGTH * points - len(self.game.plays), LEAST_LEFT * points)  # of both colours
        return min(self.clock.share(colour, moves=round(plays_left / 2)), self.parameters.max_time)


def print_message(text: str) -> None:
    """Print a message to stderr, since stdout belongs to the protocol."""
    print(f"alphago gtp: {printable(shortened(text, LONGEST_MESSAGE))}", file=sys.stderr, flush=True)

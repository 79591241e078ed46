"""`GtpEngine`: the state of a GTP engine, and how it chooses moves."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from alphago.env.devices import choose_device
from alphago.env.go import GoEnv
from alphago.env.go_count import GoCount
from alphago.env.go_position import GoPosition
from alphago.env.go_rules import Rules, check_komi
from alphago.mcts.analysis_result import Analysis
from alphago.mcts.analyst import Analyst
from alphago.mcts.evaluator import UniformEvaluator
from alphago.mcts.levels import FULL_STRENGTH, Level, check_level
from alphago.mcts.lost_turns import LostTurns
from alphago.mcts.player import USUAL_LEAVES
from alphago.mcts.puct import Puct
from alphago.mcts.questions import Answer, Limit, Question
from alphago.system.files import os_error_text
from alphago.system.validation import MOST_READOUTS, check_float, check_int, printable, shortened
from alphago.ui.gtp.gtp_game import GtpGame, analysed_game
from alphago.ui.gtp.protocol import GtpFailure
from alphago.ui.gtp.time_control import Clock

# For sharing out the time on the clock, in plays for each point of the board:
PLAYS_PER_POINT = 0.9  # the expected length of a game
LEAST_PER_POINT = 0.3  # the least number of plays for which time is kept

WARM_UP_READOUTS = 8  # of a search that compiles kernels, so that no move has to wait for that
TREE_BYTES = 2**30  # a search ends when its tree has so many bytes
LONGEST_MESSAGE = 1000  # letters
LEAST_SECONDS = 0.001  # for a move if there is no time left
NO_LIMIT = 1e20  # seconds: stands for an infinite time, which JSON cannot express

Report = Callable[[Analysis], None]  # is called with the analysis so far


@dataclass
class Parameters:
    """Settings that may change while an engine runs.

    Attributes:
        readouts: simulations for each move.
        max_time: most seconds for each move.
        resign_threshold: the engine resigns when the mover's value is below it; None for the network's own threshold.
        ponder: whether to search during the opponent's turn.
        level: the strength of the engine's moves.
        allow_resignation: whether the engine may resign at all.
        side: from whose view analyses are reported, one of `alphago.ui.katago.SIDES`.
        c_puct: the constant of exploration in a search, see `Puct`.
    """

    readouts: int = 800
    max_time: float = NO_LIMIT
    resign_threshold: float | None = None
    allow_resignation: bool = True
    ponder: bool = False
    side: str = "SIDETOMOVE"
    c_puct: float = Puct().c_puct
    level: Level = FULL_STRENGTH


class GtpEngine:
    """A game, a clock and a search; `serve` explains the arguments."""

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
    ) -> None:
        check_int("readouts", readouts, 0, MOST_READOUTS)
        if network is None:
            print_message("no model was given: playing with a search without a network")
        self.env, self.seed, self.device = env, seed, device
        self.plays_randomly = isinstance(network, str) and network == "random"
        has_network = network is not None and not self.plays_randomly
        self.network = network if has_network else UniformEvaluator()
        self.networks = networks or (lambda size: (self.env, self.network))  # the game and the network for a size
        self.plays_any_size = networks is not None or not has_network or getattr(network, "size_free", False)
        if resign_threshold is None:
            # The value is not used here.  Reading it raises an error of an invalid one now rather than during a game.
            getattr(self.network, "resign_threshold", None)
        else:
            check_float("resign_threshold", resign_threshold, -1, 1)
        level = FULL_STRENGTH if level is None else check_level(level)
        self.parameters = Parameters(readouts, resign_threshold=resign_threshold, ponder=ponder, level=level)
        self.generator = np.random.default_rng(seed)
        self.background: Question | None = None  # the search that goes on until the next command
        self.analysts: list[Analyst] = []  # for analyses and for moves; on a CPU one for both, see `open_search`
        self.clock = Clock()
        self.seconds_spent = 0.0  # on all moves so far
        self.pondering = False  # whether to search while waiting for the next command
        self.rules = env.rules
        self.komi = None if komi is None else check_komi(komi)  # None: each board's default
        self.open_board(env.N)

    def game_for(self, size: int, rules: Rules) -> GoEnv:
        """Return the game for a board size and rules, without the options that only help self-play."""
        env, _ = self.networks(size)
        return analysed_game(env, size, rules)

    def open_board(self, size: int) -> None:
        """Begin a game on an empty board."""
        env = self.game_for(size, self.rules)
        self.clock.reset()
        self.continue_game(GtpGame(env, env.komi if self.komi is None else self.komi))

    def continue_game(self, game: GtpGame) -> None:
        """Make `game` the engine's game; later games have its rules too."""
        earlier = getattr(self, "game", None)  # None: this is the engine's first game
        self.game, self.rules = game, game.env.rules
        self.lost_turns = LostTurns()
        self.pondering = False
        is_other_game = earlier is None or earlier.env != game.env
        if not self.plays_randomly and is_other_game:  # in the same game the kept trees may be of use
            self.open_search()

    def open_search(self) -> None:
        """Create the analysts for the current board and parameters."""
        self.close()
        _, self.network = self.networks(self.game.env.N)
        settings = Puct(leaves=USUAL_LEAVES, c_puct=self.parameters.c_puct)
        options: dict[str, Any] = {"device": self.device, "slots": 1, "tree_bytes": TREE_BYTES, "seed": self.seed}
        self.analyst = self.player = Analyst(self.network, settings=settings, threads=1, **options)
        # `analyst` reports forecasts of score and ownership, and with forecasts the boards stay in the CPU's memory.
        # `player` only searches for moves, without forecasts: a GPU then keeps the boards in its own memory.
        device = choose_device(self.game.env) if self.device == "auto" else self.device
        if device != "cpu":
            self.player = Analyst(self.network, settings=settings, threads=1, forecasts=False, **options)
        self.analysts = [self.analyst, self.player]
        for analyst in self.analysts:
            analyst.evaluators(self.game.env)  # raises an error of the device or the network here
        self.player.ask(self.game.position_for(self.game.to_play), limit=Limit(WARM_UP_READOUTS)).last()
        self.player.forget()  # the first move is searched as if there had been no warm-up

    def close(self) -> None:
        """End all searches."""
        for analyst in self.analysts:
            analyst.close()

    def end_background(self) -> None:
        """End the background search, and wait until its tree is kept."""
        if self.background is not None:
            self.background.stop()
            self.background.wait()
            self.background = None

    def kept_analysis(self, position: GoPosition) -> Analysis:
        """Return the analysis of a position from the kept tree, without searching more.

        It is in the view of the position's player to move.  Without a tree it is the network's evaluation.
        """
        self.end_background()
        return self.analyst.ask(position, limit=Limit(0)).last().found

    def count(self) -> GoCount:
        """Return the count of the present board, with the stones as dead that the network considers dead."""
        position = self.game.position
        if self.plays_randomly:  # without a network all stones count as alive
            return GoCount(position)
        # The same board in a game that goes on, since a network evaluates no finished game.
        unfinished = self.game.position_for(position.to_play)
        owners = self.kept_analysis(unfinished).as_black().raw_ownership  # [1, H, W], of one board
        return GoCount(position).proposed(None if owners is None else owners[0])

    def analyse(self, position: GoPosition, report: Report, **options: Any) -> None:
        """Search a position in the background until the next command.

        Args:
            report: called with the analysis so far, again and again.
            options: of `Analyst.ask`.
        """
        self.end_background()

        def tell(answer: Answer) -> None:
            if not answer.is_last:  # the last one comes after a command has ended the search
                report(answer.found)

        self.background = self.analyst.ask(position, limit=Limit(None), tell=tell, **options)

    def forget(self) -> None:
        """Clear the trees."""
        self.end_background()
        for analyst in self.analysts:
            analyst.forget()

    def ponder(self) -> None:
        """Search while waiting for a command, if `pondering`; the search for the next move uses the tree."""
        can_search = not self.plays_randomly and not self.game.is_over
        if self.pondering and can_search:
            self.end_background()
            self.background = self.player.ask(self.game.position_for(self.game.to_play), limit=Limit(None))

    def stop_pondering(self) -> None:
        """Stop pondering until the engine's next move."""
        self.pondering = False

    def stop_background(self) -> None:
        """Tell the background search to stop, without waiting for its end; `end_background` waits."""
        if self.background is not None:
            self.background.stop()

    def change_rules(self, rules: Rules) -> None:
        """Continue the game under other rules.

        Raises:
            GtpFailure: if one of the game's moves is illegal under these rules; then nothing is changed.
        """
        game = copy(self.game)
        game.env = game.env.replace(**rules._asdict())
        with printed_failure("the game is illegal under these rules"):
            game.restart(game.plays)
        self.continue_game(game)

    def make_move(self, colour: int, report: Report | None = None, passes: bool | None = None, **options: Any) -> str:
        """Choose and play a move of a colour, on its clock, and return it as text, "resign" if it resigns.

        Args:
            report: called with the analysis during the search; None for no reports.
            passes: whether to pass without a search; None to pass if the game is over.
            options: of `Analyst.ask`: moves to `avoid`, a `level` in place of the engine's, and those about reports.
        """
        begin = time.monotonic()
        if passes is None:
            passes = self.game.is_over
        action = self.game.env.pass_action if passes else self.choose_action(colour, report, **options)
        spent = time.monotonic() - begin
        self.seconds_spent += spent
        self.clock.spend(colour, spent)
        if action is None:
            return "resign"
        self.game.play(colour, action)
        self.pondering = self.parameters.ponder
        return self.game.env.to_text(action)

    def choose_action(
        self, colour: int, report: Report | None = None, *, may_resign: bool = True, **options: Any
    ) -> int | None:
        """Return the action to play, or None to resign.

        Args:
            may_resign: whether resigning is allowed.
            report: called with the analysis during the search; None for no reports.
            options: of `Analyst.ask`: moves to `avoid`, a `level` in place of the engine's, and those about reports.
        """
        position = self.game.position_for(colour)
        if self.plays_randomly:
            return int(self.generator.choice(np.flatnonzero(position.legal_mask)))
        choice = self.search_move(position, report, **options)
        if choice.opponent is not None:  # at the level "even": a sentence on how strong the opponent seems to be
            print_message(f"{choice.opponent}.")
        may_resign = may_resign and self.parameters.allow_resignation
        resigns = may_resign and self.lost_turns.resigns(choice, self.network, self.parameters.resign_threshold)
        return None if resigns else choice.action

    def search_move(self, position: GoPosition, report: Report | None, **options: Any) -> Answer:
        """Search for the move of the player to move, within the limits of readouts and time; return the last answer.

        Args:
            report, options: as in `choose_action`.
        """
        self.end_background()
        options = {"level": self.parameters.level} | options
        # On a GPU, `player` can only search for moves, without reports, forbidden moves and levels.
        is_plain = report is None and not options.get("avoid") and options["level"] == FULL_STRENGTH
        analyst = self.player if is_plain else self.analyst
        seconds = self.seconds_for(position.to_play)
        time_limit = None if seconds >= NO_LIMIT else max(seconds, LEAST_SECONDS)
        # The readouts are added to those of the kept tree.  A search with reports makes all of them; another one ends
        # as soon as its move is certain.
        limit = Limit(self.parameters.readouts, time_limit, added=True, certain=report is None)
        for answer in analyst.ask(position, limit=limit, **options):
            if report is not None:
                report(answer.found)
        return answer

    def seconds_for(self, colour: int) -> float:
        """Return the seconds for the next move of a colour: its share of the clock, at most `max_time`."""
        points = self.game.env.N**2
        plays_left = max(PLAYS_PER_POINT * points - len(self.game.plays), LEAST_PER_POINT * points)  # of both colours
        share = self.clock.share(colour, moves=round(plays_left / 2))  # the colour makes half of them
        return min(share, self.parameters.max_time)


def print_message(text: str) -> None:
    """Print a message to stderr, since stdout belongs to the protocol."""
    print(f"alphago gtp: {printable(shortened(text, LONGEST_MESSAGE))}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def printed_failure(text: str) -> Iterator[None]:
    """Convert a ValueError or OSError in the block to a GtpFailure with the message `text`; print the error itself."""
    try:
        yield
    except (ValueError, OSError) as error:  # IllegalMove is a ValueError
        print_message(os_error_text(error) if isinstance(error, OSError) else str(error))
        raise GtpFailure(text) from None

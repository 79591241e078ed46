"""GTP commands for playing Go; a controller such as Sabaki or GoGui starts the engine as `alphago gtp [MODEL]`."""

import contextlib
import sys
from collections.abc import Iterable
from functools import partial
from typing import Any, TextIO

from alphago import __version__
from alphago.env import go_rules
from alphago.env.go import GoEnv
from alphago.env.go_count import GoCount, chains, count_as_alive
from alphago.mcts.levels import FULL_STRENGTH
from alphago.mcts.search import Forbidden
from alphago.ui.gtp import analysis_commands, file_commands, parameter_commands, protocol
from alphago.ui.gtp.gtp_engine import GtpEngine, print_message, printed_failure
from alphago.ui.gtp.protocol import Command, GtpFailure, argument, as_failure, check_colour, integer, number

NAME = "alphago"
TIME_SYSTEMS = {"none": 0, "absolute": 1, "canadian": 3, "byoyomi": 3}  # by name, how many numbers follow it


def serve(
    env: GoEnv,
    network: Any = None,
    readouts: int = 800,
    *,
    input: Iterable[str] | None = None,
    output: TextIO | None = None,
    **options: Any,
) -> None:
    """Speak GTP until `quit` or the end of input.

    Options:

    resign_threshold: `genmove` resigns when the mover's value is below it; -1 for never.  None for the value that the
        network's run has measured (`NeuralNet.resign_threshold`).  That value is used only in games like those in which
        it was measured: on the same board, by the same rules, with a similar komi and no handicap.
    seed: random seed of the choice among equally good moves.
    komi: used on every board until the controller sets another; None for `env`'s komi on boards of its size, and the
        usual komi on boards of other sizes.
    device: for the network and the boards of its searches, as in `MCTSPlayer`.
    ponder: whether to search during the opponent's turn.
    networks: returns the game and the network for a board size; None for `env` and `network` on all boards.
    level: the strength of its moves, from 1 (a beginner) to 10, or "even" to follow the opponent's (see
        `alphago.mcts.levels`), instead of `readouts`; None for full strength.
    name, version: the replies to the commands `name` and `version`.

    Args:
        network: as in `MCTSPlayer`; it plays on boards of `env`'s size, a size-free network on any board.  "random"
            plays uniformly random legal moves on any board.  None searches without a network on any board, and prints a
            notice on stderr.
        readouts: simulations for each move, fewer if time is short; 0 plays the network's most probable action without
            search.
        input, output: an iterable of lines, and a text file; None for stdin and stdout, which is then reserved for the
            protocol.
    """
    with contextlib.ExitStack() as stack:
        if output is None or output is sys.stdout:
            output = stack.enter_context(protocol.reserved_stdout())
        engine = GoEngine(env, network, readouts, **options)
        lines = protocol.lines_of_stdin() if input is None else input
        stack.callback(engine.close)  # the process must not end while a search computes
        print_message("GTP ready, beginning main protocol loop")  # KataGo's words, for which LizGoban waits
        protocol.converse(engine.commands, lines, output, on_idle=engine.ponder, on_line=engine.stop_background)


class GoEngine(GtpEngine):
    """An engine with its GTP commands by name; `serve` explains the arguments."""

    def __init__(self, *arguments: Any, name: str = NAME, version: str = __version__, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.rules_text = ""  # the rules as the controller has written them
        self.commands: dict[str, Command] = {
            "name": lambda arguments: name,
            "version": lambda arguments: version,
            "boardsize": self.boardsize,
            "clear_board": self.clear_board,
            "komi": self.set_komi,
            "play": self.play,
            "genmove": self.genmove,
            "reg_genmove": self.reg_genmove,
            "undo": self.undo,
            "showboard": lambda arguments: f"\n{self.game.position}",
            "fixed_handicap": self.fixed_handicap,
            "place_free_handicap": self.place_free_handicap,
            "set_free_handicap": self.set_free_handicap,
            "kgs-rules": self.set_rules,
            "kata-set-rules": self.set_rules,
            "kata-get-rules": lambda arguments: go_rules.rules_json(self.game.env.rules),
            "time_settings": self.time_settings,
            "time_left": self.time_left,
            "kgs-time_settings": self.kgs_time_settings,
            "kata-time_settings": self.kgs_time_settings,  # these time systems have the same words
            "kata-list_time_settings": lambda arguments: " ".join(TIME_SYSTEMS),
            "cputime": lambda arguments: f"{self.seconds_spent:.6f}",
            "final_score": self.final_score,
            "final_status_list": self.final_status_list,
            "kgs-genmove_cleanup": self.genmove_cleanup,
            "kgs-game_over": lambda arguments: self.stop_pondering(),
        }
        analysis = [] if self.plays_randomly else [analysis_commands]
        for file in (file_commands, parameter_commands, *analysis):
            self.commands |= {name: partial(command, self) for name, command in file.COMMANDS.items()}

    # -- commands: arguments in, the reply's text out ----------------------------------------------

    def boardsize(self, arguments: list[str]) -> None:
        """Begin a game on an empty board of a size; a second number (KataGo's number of rows) must be equal to it."""
        size = integer(argument(arguments, 0))
        # A second word that is no number is ignored, like all surplus arguments.
        is_square = all(word == str(size) for word in arguments[1:2] if word.isdecimal())
        is_acceptable = go_rules.MIN_SIZE <= size <= go_rules.MAX_SIZE if self.plays_any_size else size == self.env.N
        if not (is_acceptable and is_square):
            raise GtpFailure("unacceptable size")
        self.open_board(size)

    def clear_board(self, arguments: list[str]) -> None:
        """Begin a game on an empty board of the present size."""
        self.open_board(self.game.env.N)

    def set_komi(self, arguments: list[str]) -> None:
        """Set komi, for this game and later ones."""
        with as_failure():
            self.komi = self.game.komi = go_rules.check_komi(number(argument(arguments, 0)))
        self.game.restart(self.game.plays)  # all positions have the komi of the first one, which has changed

    def set_rules(self, arguments: list[str]) -> None:
        """Set the rules of ko and suicide, for this game and later ones; games are always scored by area.

        Rules are given by a name of KGS or SGF, or in KataGo's long or JSON form.  Fails if the rules score in another
        way, or if a move of the game is illegal under them.  Where the rules may give White points for handicap stones,
        a message says that there are none here.
        """
        first = argument(arguments, 0)
        text = " ".join(arguments) if first.startswith("{") else first
        if why := go_rules.why_other_score(text):
            raise GtpFailure(why)
        rules = go_rules.read_rules(text)
        if rules is None:
            raise GtpFailure("unknown rules")
        if rules != self.game.env.rules:
            self.change_rules(rules)
        self.rules_text = text
        self.print_no_handicap_bonus()

    def print_no_handicap_bonus(self) -> None:
        """Print that White gets no points for handicap stones, if there are such stones and the rules may give some."""
        if self.game.has_handicap and go_rules.gives_bonus(self.rules_text):
            print_message(go_rules.NO_BONUS)

    def check_empty(self) -> None:
        """Raise GtpFailure unless the board is empty and no move was played."""
        if self.game.plays or self.game.stones:
            raise GtpFailure("board not empty")

    def fixed_handicap(self, arguments: list[str]) -> str:
        """Place Black's handicap stones on their fixed points, and return these points."""
        count, size = integer(argument(arguments, 0)), self.game.env.N
        self.check_empty()
        with as_failure("invalid number of stones"):
            stones = go_rules.handicap_points(size, count)
        self.give_handicap(stones)
        return " ".join(map(self.game.env.to_text, stones))

    def place_free_handicap(self, arguments: list[str]) -> str:
        """Place handicap stones on fixed points, and return them.

        If the board has too few such points, fewer stones than requested are placed, as GTP allows.
        """
        count, most = integer(argument(arguments, 0)), go_rules.most_handicap(self.game.env.N)
        if count < 2 or not most:  # `most` is 0 on boards too small for a handicap
            raise GtpFailure("invalid number of stones")
        return self.fixed_handicap([str(min(count, most))])

    def set_free_handicap(self, arguments: list[str]) -> None:
        """Place Black's handicap stones on the points that the controller names."""
        self.check_empty()
        with as_failure("bad vertex list"):
            stones = {self.game.env.from_text(word) for word in arguments}
        has_repeats = len(stones) < len(arguments)
        is_possible_number = 2 <= len(stones) < self.game.env.N**2
        if has_repeats or not is_possible_number or self.game.env.pass_action in stones:
            raise GtpFailure("bad vertex list")
        self.give_handicap(list(stones))

    def give_handicap(self, stones: list[int]) -> None:
        """Place Black's handicap stones; the komi becomes that of handicap games unless it was set to a number."""
        if self.komi is None:
            self.game.komi = go_rules.handicap_komi(self.game.env.N, self.game.env.komi)
        self.game.set_up(stones, white=(), first=-1)
        self.print_no_handicap_bonus()

    def play(self, arguments: list[str]) -> None:
        """Play a move of either colour; fail, and change nothing, if it is illegal."""
        colour = check_colour(argument(arguments, 0))
        text = argument(arguments, 1)
        with as_failure("invalid color or coordinate"):
            action = self.game.env.from_text(text)
        self.pondering = False
        with printed_failure("illegal move"):
            self.game.play(colour, action)
        if len(self.game.plays) == 2:  # only then, so that the message comes once in a game
            # If Black has played both moves, they are handicap stones, for which White gets no points here.
            self.print_no_handicap_bonus()

    def genmove(self, arguments: list[str]) -> str:
        """Choose and play a move of a colour, and return it."""
        return self.make_move(check_colour(argument(arguments, 0)))

    def reg_genmove(self, arguments: list[str]) -> str:
        """Return the move that `genmove` would play, without playing it, and never a resignation."""
        colour = check_colour(argument(arguments, 0))
        # None if the game is over: then `genmove` passes.  Without resignations `choose_action` returns no None.
        action = None if self.game.is_over else self.choose_action(colour, may_resign=False)
        return "pass" if action is None else self.game.env.to_text(action)

    def undo(self, arguments: list[str]) -> None:
        """Take back the last play."""
        if not self.game.plays:
            raise GtpFailure("cannot undo")
        self.game.restart(self.game.plays[:-1])
        self.pondering = False

    def time_settings(self, arguments: list[str]) -> None:
        """Set the seconds of main time and of a byo-yomi period, and the stones of a period."""
        main, period, stones = (integer(argument(arguments, i)) for i in range(3))
        if min(main, period, stones) < 0:
            raise GtpFailure("syntax error")
        self.clock.set_limits(main, period, stones)

    def time_left(self, arguments: list[str]) -> None:
        """Set the seconds that a colour has left, and the stones to play in them; 0 or less means main time."""
        colour, seconds = check_colour(argument(arguments, 0)), number(argument(arguments, 1))
        self.clock.set_left(colour, seconds, max(0, integer(argument(arguments, 2))))

    def kgs_time_settings(self, arguments: list[str]) -> None:
        """Set kgsGtp's time system: none, absolute, canadian, or byoyomi, in which each period is for one move."""
        # The numbers are seconds of main time, seconds of a period, and stones of a period (in byo-yomi: periods).
        kind, numbers = argument(arguments, 0), [number(word) for word in arguments[1:]]
        is_complete = kind in TIME_SYSTEMS and len(numbers) >= TIME_SYSTEMS[kind]
        if not is_complete or min(numbers, default=0) < 0:
            raise GtpFailure("syntax error")
        main, period, stones = (*numbers, 0, 0, 0)[:3]  # numbers that are left out are 0
        if kind == "none":
            main, period, stones = 0, 1, 0  # a period without stones: no limit
        elif kind == "byoyomi":
            stones = 1  # in each period; the third number counts periods, which do not matter
        self.clock.set_limits(main, period, int(stones))
        self.clock.one_stone = kind == "byoyomi"

    def final_score(self, arguments: list[str]) -> str:
        """Return the area score.

        After two passes dead stones are removed; before that, all stones on the board count as alive.
        """
        position = self.game.position
        ended_by_passes = count_as_alive(position) is not None
        return (self.count() if ended_by_passes else GoCount(position)).result

    def final_status_list(self, arguments: list[str]) -> str:
        """Return the stones that have a status, "alive", "dead" or "seki", one chain per line.

        A chain is dead if the network expects its points to become the other side's.  All other chains are alive.  None
        is reported as seki, since area scoring counts seki stones as alive.
        """
        status = argument(arguments, 0).lower()
        if status not in ("alive", "dead", "seki"):
            raise GtpFailure(f"the status must be one of alive, dead, seki, got {status}")
        dead = self.count().dead
        listed = [chain for chain in chains(self.game.position) if status == ("dead" if chain[0] in dead else "alive")]
        return "\n".join(" ".join(map(self.game.env.to_text, chain)) for chain in listed)

    def genmove_cleanup(self, arguments: list[str]) -> str:
        """Play a move; it is no pass as long as dead stones of the other side are on the board, as kgsGtp requires."""
        colour, game = check_colour(argument(arguments, 0)), self.game
        dead, board = self.count().dead, game.position.board.ravel()
        has_stones_to_take = any(board[point] == -colour for point in dead)
        can_play = game.position_for(colour).legal_mask[:-1].any()  # the last action is the pass
        if not has_stones_to_take or not can_play:
            return self.make_move(colour)
        # The game goes on although two passes came before, and the pass is forbidden.  A level might take no stones.
        no_pass = [Forbidden(colour, frozenset([game.env.pass_action]))]
        return self.make_move(colour, passes=False, level=FULL_STRENGTH, avoid=no_pass)

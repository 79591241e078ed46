"""A game against the engine at a terminal."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from alphago.env.board import result_text
from alphago.env.go_count import GoCount
from alphago.env.position import IllegalMove, Position
from alphago.mcts.levels import EVEN, LEVELS, Level, describe_level, is_measured
from alphago.mcts.player import MCTSPlayer
from alphago.system.validation import near_names
from alphago.ui.teacher import Teacher
from alphago.ui.terminal.estimate import draw_count, estimate, propose_count
from alphago.ui.terminal.saved_games import GameFiles, GameToSave
from alphago.ui.terminal.screen import Screen
from alphago.ui.thinker import MoveLimit, Thinker
from alphago.ui.why.explain import explain

HELP = """\
  {move:11} a move, written like this one{passes}
  undo        take back your last move and what followed it
  hint        what the engine would play in your place
  why         why your last move was good or bad; why {move}: the same for a move now
  score       who would win if the game ended here, and what the network expects
  save FILE   save the game so far{kind}
  save! FILE  the same, replacing a file that is not of this game
  load FILE   continue a saved game
  resign      resign{counts}
  quit        leave without a result; also exit or q
  help        this list"""
WITH_FILE = ("save", "save!", "load")  # commands that take a file name
ALIASES = {"exit": "quit", "q": "quit"}
ARGUMENTS = (*WITH_FILE, "why")  # commands that take an argument
COUNTED = "X and O are alive; x and o are dead; b and w are further points of Black and White."
COUNT_PROMPT = "A point turns its group dead or alive, `alive` counts all stones as alive, Enter agrees: "
SURE_READOUTS = 64  # with fewer a win rate swings by tens of percents from one search to the next, and is told with ≈
SHOWN_PLIES = 6  # plies of the expected line of play that are shown


class Thought(NamedTuple):
    """What a search expects of a move.

    win_rate: of the player to move, such as "75 %".  line: the expected line of play, as text.
    """

    action: int
    win_rate: str
    line: str


class TerminalGame:
    """One game between a person and an engine; `run` plays it.

    player: the engine; it is set to `start` (None: the start position).
    human: +1 if the person is Black (the first player), -1 if White.
    limit: the limit of each search.
    level: the engine's strength; None for full strength.
    teacher: looks over the person's moves; None for none.
    now: returns the time in seconds.
    """

    def __init__(
        self,
        player: MCTSPlayer,
        human: int,
        screen: Screen,
        limit: MoveLimit,
        *,
        start: Position | None = None,
        level: Level | None = None,
        teacher: Teacher | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        player.initialize_game(start)
        self.player = player
        self.thinker = Thinker(player, now=now)
        self.board_view = player.env.board_view
        self.human = human
        self.screen = screen
        self.say = screen.say
        self.limit, self.level, self.teacher = limit, level, teacher
        self.positions: list[Position] = [player.position]  # of the whole game
        self.left = False  # whether the person has left
        self.resigned = False
        self.announced = False  # whether the result was announced
        self.count: GoCount | None = None  # the count of a game that ended by two passes
        self.files = GameFiles(player.env, screen)
        self.commands: dict[str, Callable[[str], None]] = {
            "undo": self.undo,
            "hint": self.hint,
            "why": self.why,
            "score": self.score,
            "save": self.save,
            "save!": partial(self.save, replace=True),
            "load": self.load,
            "resign": lambda _: self.resign(self.human),
            "alive": self.count_all_as_alive,
            "quit": self.quit,
            "help": self.help,
        }

    @property
    def words(self) -> list[str]:
        """The words that can be typed: all but points."""
        pass_word = [] if self.player.env.pass_action is None else ["pass"]
        return [*self.commands, *ALIASES, *pass_word]

    @property
    def position(self) -> Position:
        return self.positions[-1]

    @property
    def over(self) -> bool:
        return self.resigned or self.position.is_over

    def run(self) -> Position:
        """Play to the end, or until the person leaves; return the last position."""
        try:
            self.say(f"You are {self.board_view.side(self.human)}.  `help` lists what you can type.")
            if self.level is not None:
                env, measured = self.player.env, is_measured(self.player.network, self.player.env)
                self.say(f"The engine plays at {describe_level(self.level, env, self.player.has_scores, measured)}.")
            self.draw()
            while not self.left:
                if self.over:
                    self.after_game()
                elif self.position.to_play == self.human:
                    self.human_turn(f"Your move ({self.board_view.side(self.human)}): ")
                else:
                    self.engine_turn()
        except (EOFError, KeyboardInterrupt):
            self.screen.clear_status()
            self.say("")  # ends the line of the prompt
            self.quit()
        return self.position

    def draw(self) -> None:
        self.screen.draw(str(self.position))

    def human_turn(self, prompt: str) -> bool:
        """Read a line, and obey its command or play its move; return False for an empty line."""
        text = self.screen.read(prompt).strip()
        name, _, argument = text.partition(" ")
        name = ALIASES.get(name.lower(), name.lower())
        if name in self.commands and (not argument or name in ARGUMENTS):
            self.commands[name](argument.strip())
        elif text:
            self.try_move(text)
        return bool(text)

    def after_game(self) -> None:
        """Read one line after the end of the game: while stones are counted, about dead stones; then a command.

        The result is announced when the person agrees on the dead stones; at once if stones are not counted.
        """
        if self.count is None and not self.resigned:
            self.recount(propose_count(self.player.network, self.position))
        if self.counting:
            if not self.human_turn(COUNT_PROMPT):
                self.announce_result()
            return
        if not self.announced:
            self.announce_result()
        if not self.human_turn("The game is over (save FILE, undo, or Enter to leave): "):
            self.left = True

    @property
    def counting(self) -> bool:
        """Whether the dead stones of a finished game are not agreed yet."""
        return self.count is not None and not self.announced

    def recount(self, count: GoCount | None) -> None:
        """Set the count of the finished game, and show it; None if the game is not counted."""
        self.count = count
        if count is not None:
            self.screen.draw(draw_count(count))
            self.say(f"{COUNTED}\n{count}.")

    def count_all_as_alive(self, _: str) -> None:
        if self.count is None or not self.counting:
            self.say("There is nothing to count: two passes end the game.")
        else:
            self.recount(replace(self.count, dead=frozenset()))

    def try_move(self, text: str) -> None:
        """Play a typed move, or say why it cannot be played.

        While stones are counted, the move's point names a group instead, which turns dead or alive.
        """
        try:
            action = self.position.env.from_text(text)
            if self.count is not None and self.counting:
                self.recount(self.count.toggled(action))
                return
            if self.resigned:
                self.say("the game is over by resignation.")
            elif not self.takes_back(action):
                self.play_move(action)
        except IllegalMove as error:
            self.say(f"{error}.")
        except ValueError as reason:
            near = near_names(text.lower(), self.words)
            self.say(f"{reason}; {f'did you mean {near[0]}? ' if near else ''}`help` lists the commands.")

    def takes_back(self, action: int) -> bool:
        """Explain a move that loses much before it is played, and return whether the person takes it back."""
        if self.teacher is None:
            return False
        lesson = self.teacher.lesson(self.position, self.position.check_action(action))
        if lesson is None:
            return False
        self.say(f"{lesson}")
        answer = self.screen.read("Enter to take it back, or y to play it all the same: ")
        return answer.strip().lower() not in ("y", "yes")

    def play_move(self, action: int) -> None:
        self.player.play_move(action)
        self.positions.append(self.player.position)
        self.draw()
        first_pass = action == self.player.env.pass_action and self.position.moves.count(action) == 1
        if first_pass and self.board_view.pass_hint and not self.over:
            self.say(self.board_view.pass_hint)

    def think(self) -> Thought:
        """Return the engine's best move, showing a status line while it searches."""
        total = "" if self.limit.readouts is None else f" of {self.limit.readouts}"
        mover = self.board_view.side(self.position.to_play)

        def report(readouts: int) -> None:
            best = self.thought(self.thinker.best())
            self.screen.status(
                f"{readouts}{total} readouts, win rate of {mover} {best.win_rate}, best line {best.line}"
            )

        action = self.thinker.choose(self.limit, report)
        self.screen.clear_status()
        return self.thought(action)

    def thought(self, action: int) -> Thought:
        """Return what the search so far expects of an action."""
        analysis = self.player.analysis(plies=SHOWN_PLIES)
        values, _ = analysis.root_readings
        win_rate = (1 + values[0]) / 2
        about = "≈ " if self.player.root_visits < SURE_READOUTS else ""
        return Thought(action, f"{about}{100 * win_rate:.0f} %", analysis.line_text(action))

    def engine_turn(self) -> None:
        """Let the engine move or resign, and say what it did.

        At full strength the engine also says what it expects, on level "even" how strong it takes the person to be.
        """
        engine, before = -self.human, self.position
        self.say("The engine is thinking.")
        remark = ""
        if self.level is None or self.level == LEVELS:  # full strength, of which LEVELS is the level
            thought = self.think()
            action = thought.action
            remark = f"; it expects to win with {thought.win_rate}.\nBest line: {thought.line}"
        else:
            action = self.player.level_move(self.level)
        if self.player.should_resign():
            self.resign(engine)
            return
        self.play_move(action)
        if self.level == EVEN:
            remark = f".  {self.player.opponent.estimate(before)}"
        self.say(f"The engine ({self.board_view.side(engine)}) played {before.env.to_text(action)}{remark}.")

    def hint(self, _: str) -> None:
        if self.over:
            self.say("The game is over: there is nothing to play.")
            return
        thought = self.think()
        move = self.position.env.to_text(thought.action)
        self.say(
            f"The engine would play {move} in your place; it expects you to win with {thought.win_rate}.\n"
            f"Best line: {thought.line}."
        )

    def why(self, move: str) -> None:
        """Explain a move in the position on the board; without a move, explain the person's last one.

        move: as typed; "" for none.
        """
        before: Position = self.position
        chosen: int | str = move
        if not move:
            turns = self.past_turns()
            if not turns:
                self.say("You have not moved yet: there is no move to explain.")
                return
            before, chosen = self.positions[turns[-1]], self.positions[turns[-1] + 1].moves[-1]
        try:
            explanation = explain(before, chosen, self.player.network)
        except IllegalMove as error:
            self.say(f"{error}.")
            return
        self.say(str(explanation))

    def past_turns(self) -> list[int]:
        """Return the indices in `positions` of those in which the person moved."""
        return [i for i, position in enumerate(self.positions[:-1]) if position.to_play == self.human]

    def undo(self, _: str) -> None:
        """Go back to the person's last turn, which is the present one if the person has resigned in it."""
        turns = self.past_turns()
        if self.resigned and self.position.to_play == self.human:
            turns.append(len(self.positions) - 1)
        if not turns:
            self.say("You have not moved yet: there is nothing to take back.")
            return
        self.go_to(self.positions[: turns[-1] + 1])

    def go_to(self, positions: list[Position]) -> None:
        """Continue a game, given all its positions in order, from the last one."""
        self.player.initialize_game(positions[-1])
        self.positions = positions
        self.resigned = self.announced = False
        self.count = None
        self.draw()

    def help(self, _: str) -> None:
        example = self.position.env.to_text(int(np.argmax(self.position.legal_mask)))
        passes = "" if self.position.env.pass_action is None else "\n  pass        let the other side move"
        kind = " (SGF)" if self.position.env.has_sgf else ""
        has_count = self.position.env.has_sgf  # in Go
        counts = "\n  alive       when stones are counted: no stone is dead" if has_count else ""
        text = HELP.format(move=example, passes=passes, kind=kind, counts=counts)
        self.say("\n".join(filter(None, (text, self.board_view.pass_hint))))

    def score(self, _: str) -> None:
        """Show the score of the current board, and the result that the network expects."""
        now = f"If the game ended here: {result_text(self.position.score())}."
        self.say("  ".join(filter(None, (now, self.board_view.pass_hint))))
        if self.over:
            return
        expected = estimate(self.player.network, self.position)
        if expected is not None:
            sentences, drawing = expected
            self.say(sentences)
            if drawing:
                self.screen.draw(drawing)
        elif self.player.env.has_ownership:
            self.say("That is the current board: this engine makes no forecast of the end.")

    def save(self, name: str, replace: bool = False) -> None:
        """Save the game, or say why not.

        replace: whether to replace, without asking, a file that is not of this game.
        """
        names = ("you", "alphago") if self.human > 0 else ("alphago", "you")
        try:
            record = self.player.game_record()
            game = GameToSave(record, over=self.over, players=names, counted=self.count, agreed=not self.counting)
            path = self.files.save(name, game, replace)
        except (ValueError, OSError) as reason:
            self.say(f"Not saved: {reason}.")
        else:
            self.say(f"Saved in {path}.")

    def load(self, name: str) -> None:
        """Load a game and continue it, or say why that fails."""
        try:
            positions = self.files.load(name)
        except (ValueError, OSError) as reason:
            self.say(f"Not loaded: {reason}.")
        else:
            self.go_to(positions)

    def resign(self, loser: int) -> None:
        """End the game by the resignation of `loser`, +1 or -1, unless it is over already."""
        if self.over:
            self.say("The game is over already.")
            return
        self.resigned = True
        self.player.set_result(-loser, was_resign=True)
        self.say("You resign." if loser == self.human else "The engine resigns.")

    def quit(self, _: str = "") -> None:
        """Leave the game; announce the result of a finished game whose stones are still being counted."""
        self.left = True
        if self.counting:
            self.announce_result()
        if not self.over:
            self.say(f"You left the game after {len(self.position.moves)} moves.")

    def announce_result(self) -> None:
        """Say who wins, by the count if the game was counted, and what the teacher has to say of the game."""
        self.announced = True
        result, text = self.player.result, self.player.result_string
        if self.count is not None:
            result, text = float(np.sign(self.count.margin)), result_text(self.count.margin)
        if result == 0:
            self.say(f"{text}: nobody wins.")
        else:
            self.say(f"{text}: {self.board_view.side(result)} wins.")
            self.say("You win!" if result * self.human > 0 else "The engine wins.")
        if self.teacher is not None:
            self.say(self.teacher.summary(self.positions))

"""A game against the engine at a terminal."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from alphago.env.board import result_text
from alphago.env.go_count import GoCount
from alphago.env.position import IllegalMove, Position
from alphago.mcts.analyst import Analyst
from alphago.mcts.levels import FULL_STRENGTH, Level, describe_level, measured_network
from alphago.mcts.lost_turns import LostTurns
from alphago.mcts.player import SearchResults, make_record
from alphago.mcts.questions import Answer, Limit
from alphago.records.record import GameRecord
from alphago.system.validation import near_names
from alphago.ui.teacher import Teacher
from alphago.ui.terminal.estimate import draw_count, estimate
from alphago.ui.terminal.saved_games import GameFiles
from alphago.ui.terminal.screen import STATUS_SECONDS, Screen
from alphago.ui.web.views import result_view
from alphago.ui.why.explain import explain_moves

HELP = """\
  {move:11} a move, written like this one{pass_line}
  undo        take back your last move and what followed it
  hint        what the engine would play in your place
  why         why your last move was good or bad; why {move}: the same for a move now
  score       who would win if the game ended here, and what the network expects
  save FILE   save the game so far{file_kind}
  save! FILE  the same, replacing a file that is not of this game
  load FILE   continue a saved game
  resign      resign{alive_line}
  quit        leave without a result; also exit or q
  help        this list"""
FILE_COMMANDS = ("save", "save!", "load")  # commands that take a file name
ALIASES = {"exit": "quit", "q": "quit"}
ARGUMENTS = (*FILE_COMMANDS, "why")  # commands that take an argument
COUNTED = "X and O are alive; x and o are dead; b and w are further points of Black and White."
COUNT_PROMPT = "A point turns its group dead or alive, `alive` counts all stones as alive, Enter agrees: "
SURE_READOUTS = 64  # after fewer, a win rate has the sign ≈: it differs by tens of percents from search to search
SHOWN_PLIES = 6  # plies of the expected line of play that are shown


class RefusedCommand(Exception):
    """A command that cannot be obeyed; its text says why."""


class TerminalGame:
    """One game between a person and an engine; `run` plays it.

    Args:
        analyst: searches for the engine.
        start: where the game begins.
        human: +1 if the person is Black (the first player), -1 if White.
        screen: where the person reads and types.
        limit: the limit of each search.
        level: the engine's strength; None for full strength.
        teacher: looks over the person's moves; None for none.
    """

    def __init__(
        self,
        analyst: Analyst,
        start: Position,
        human: int,
        screen: Screen,
        limit: Limit,
        *,
        level: Level | None = None,
        teacher: Teacher | None = None,
    ) -> None:
        self.analyst, self.env = analyst, start.env
        self.board_view = self.env.board_view
        self.human, self.screen, self.say = human, screen, screen.say
        # `added`: each search makes all its readouts, also in a tree that is kept from the search before.
        self.limit, self.level, self.teacher = replace(limit, added=True), level, teacher
        self.positions: list[Position] = [start]  # in order; before a move its player is to move
        self.lost_turns = LostTurns()
        self.searched: SearchResults = {}  # of the engine's turns, for `record`
        self.has_left = False  # whether the person has left
        self.loser = 0  # who has resigned, +1 or -1; 0 while none has
        self.is_announced = False  # whether the result was announced
        self.count: GoCount | None = None  # the count of a game that ended by two passes
        self.files = GameFiles(self.env, screen)
        # Each command is called with the text after its name; those without an argument are called with "".
        own = (self.undo, self.hint, self.why, self.score, self.save, self.load, self.alive, self.quit, self.help)
        self.commands: dict[str, Callable[[str], None]] = {command.__name__: command for command in own}
        self.commands |= {"save!": partial(self.save, overwrites=True), "resign": lambda _: self.resign(self.human)}
        # The words that can be typed, without the names of points.
        self.words = [*self.commands, *ALIASES, *([] if self.env.pass_action is None else ["pass"])]

    @property
    def position(self) -> Position:
        """The position on the board."""
        return self.positions[-1]

    @property
    def is_over(self) -> bool:
        """Whether the game has ended, by a resignation or by its rules."""
        return bool(self.loser) or self.position.is_over

    def run(self) -> Position:
        """Play, and take commands after the game too, until the person leaves; return the last position."""
        try:
            self.say(f"You are {self.board_view.side(self.human)}.  `help` lists what you can type.")
            if self.level is not None:
                has_scores = bool(getattr(self.analyst.evaluators(self.env), "makes_forecasts", False))
                measured = measured_network(self.analyst.network, self.env)
                self.say(f"The engine plays at {describe_level(self.level, self.env, has_scores, measured)}.")
            self.draw()
            while not self.has_left:
                if self.is_over:
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
        """Show the position on the board."""
        self.screen.draw(str(self.position))

    def human_turn(self, prompt: str) -> bool:
        """Read a line, and obey its command or play its move, or say why that is impossible.

        Returns:
            False for an empty line, which does nothing.
        """
        text = self.screen.read(prompt).strip()
        name, _, argument = text.partition(" ")
        name = ALIASES.get(name.lower(), name.lower())
        try:
            if name in self.commands and (not argument or name in ARGUMENTS):  # "undo it" is no command
                self.commands[name](argument.strip())
            elif text:
                self.try_move(text)
        except (RefusedCommand, IllegalMove) as reason:
            self.say(f"{reason}.")
        except ValueError as reason:
            near = near_names(text.lower(), self.words)
            self.say(f"{reason}; {f'did you mean {near[0]}? ' if near else ''}`help` lists the commands.")
        return bool(text)

    def after_game(self) -> None:
        """Read one line after the end of the game, and obey it.

        After two passes in Go the stones are counted: the line is about dead stones, and an empty line agrees to them.
        Then the result is announced.  After any other end it is announced at once.
        """
        if self.count is None and not self.loser:
            self.recount(self.analyst.count(self.position))  # after two passes in Go; else `count` stays None
        if self.is_counting:
            if not self.human_turn(COUNT_PROMPT):
                self.announce_result()
            return
        if not self.is_announced:
            self.announce_result()
        if not self.human_turn("The game is over (save FILE, undo, or Enter to leave): "):
            self.has_left = True

    @property
    def is_counting(self) -> bool:
        """Whether the person has not yet agreed to the dead stones of a finished game."""
        return self.count is not None and not self.is_announced

    def recount(self, count: GoCount | None) -> None:
        """Set the count of the finished game, and show it; None if the game is not counted."""
        self.count = count
        if count is not None:
            self.screen.draw(draw_count(count))
            self.say(f"{COUNTED}\n{count}.")

    def alive(self, _: str) -> None:
        """Count all stones as alive."""
        if self.count is None or not self.is_counting:  # `is_counting` alone tells mypy nothing of `count`
            raise RefusedCommand("There is nothing to count: two passes end the game")
        self.recount(replace(self.count, dead=frozenset()))

    def try_move(self, text: str) -> None:
        """Play a typed move; raise ValueError for a text that is none, IllegalMove for an illegal one.

        While stones are counted, the move's point names a group instead, which turns dead or alive.
        """
        action = self.position.env.from_text(text)
        if self.count is not None and self.is_counting:
            self.recount(self.count.toggled(action))
        elif self.loser:
            raise RefusedCommand("the game is over by resignation")
        elif self.confirm_move(action):
            self.play_move(action)

    def confirm_move(self, action: int) -> bool:
        """Return whether to play a move; a teacher explains a move that loses much, and then the person decides."""
        lesson = self.teacher and self.teacher.lesson(self.position, self.position.check_action(action))
        if lesson is None:
            return True
        self.say(f"{lesson}")
        return self.screen.read("Enter to take it back, or y to play it all the same: ").strip().lower() in ("y", "yes")

    def play_move(self, action: int) -> None:
        """Play a move of either side, and show the board; explain the first pass of a game."""
        self.positions.append(self.position.play(action))
        self.draw()
        is_first_pass = action == self.env.pass_action and self.position.moves.count(action) == 1
        if is_first_pass and self.board_view.pass_hint and not self.is_over:
            self.say(self.board_view.pass_hint)

    def think(self, level: Level = FULL_STRENGTH) -> Answer:
        """Search the position, show a status line meanwhile, and return the last answer, with the engine's move.

        Args:
            level: the strength with which the move is chosen.
        """
        search = self.analyst.ask(self.position, limit=self.limit, level=level, every=STATUS_SECONDS, plies=SHOWN_PLIES)
        try:
            for answer in search:
                if not answer.is_last:
                    self.show_status(answer)
        finally:
            search.stop()
            self.screen.clear_status()
        return answer

    def show_status(self, answer: Answer) -> None:
        """Show how far a search is."""
        total = "" if self.limit.readouts is None else f" of {self.limit.readouts}"
        mover, line = self.board_view.side(self.position.to_play), answer.found.line_text(answer.found.best())
        text = f"{answer.readouts}{total} readouts, win rate of {mover} {win_rate(answer)}, best line {line}"
        self.screen.status(text)

    def engine_turn(self) -> None:
        """Let the engine move or resign, and say what it did.

        At full strength the engine also says what it expects.  At the level "even" it says how strong the person seems.
        """
        engine, before = -self.human, self.position  # the engine's side, and the position before its move
        self.say("The engine is thinking.")
        answer = self.think(FULL_STRENGTH if self.level is None else self.level)
        assert answer.action is not None
        if self.lost_turns.resigns(answer, self.analyst.network):
            self.resign(engine)
            return
        if answer.found.visits.any():  # else there was no search
            self.searched[before.moves] = float(answer.found.value[0]), answer.found.visits[0]
        self.play_move(answer.action)
        remark = "."
        if self.level is None or self.level == FULL_STRENGTH:
            line = answer.found.line_text(answer.action)
            remark = f"; it expects to win with {win_rate(answer)}.\nBest line: {line}."
        elif answer.opponent is not None:
            remark = f".  {answer.opponent}."
        self.say(f"The engine ({self.board_view.side(engine)}) played {before.env.to_text(answer.action)}{remark}")

    def hint(self, _: str) -> None:
        """Show what the engine would play at full strength in the person's place."""
        if self.is_over:
            raise RefusedCommand("The game is over: there is nothing to play")
        answer = self.think()
        assert answer.action is not None
        move, line = self.env.to_text(answer.action), answer.found.line_text(answer.action)
        text = f"The engine would play {move} in your place; it expects you to win with {win_rate(answer)}."
        self.say(f"{text}\nBest line: {line}.")

    def why(self, move: str) -> None:
        """Explain a move in the position on the board; without a move, explain the person's last one.

        Args:
            move: as typed; "" for none.
        """
        before: Position = self.position
        chosen: int | str = move
        if not move:
            turns = self.past_turns()
            if not turns:
                raise RefusedCommand("You have not moved yet: there is no move to explain")
            before, after = self.positions[turns[-1] : turns[-1] + 2]  # the person's last turn, and what came of it
            chosen = after.moves[-1]
        self.say(str(explain_moves([(before, before.check_action(chosen))], self.analyst)[0]))

    def past_turns(self) -> list[int]:
        """Return the indices, in `positions`, of the positions in which the person has moved."""
        return [i for i, position in enumerate(self.positions[:-1]) if position.to_play == self.human]

    def undo(self, _: str) -> None:
        """Go back to the person's last turn, which is the present one if the person has resigned in it."""
        turns = self.past_turns()  # the last one is the turn to go back to
        if self.loser == self.human:
            turns.append(len(self.positions) - 1)
        if not turns:
            raise RefusedCommand("You have not moved yet: there is nothing to take back")
        self.continue_from(self.positions[: turns[-1] + 1])

    def continue_from(self, positions: list[Position]) -> None:
        """Continue a game from its last position, given all its positions in order."""
        self.positions = positions
        self.loser, self.is_announced, self.count = 0, False, None
        self.draw()

    def help(self, _: str) -> None:
        """Show the list of commands."""
        example = self.position.env.to_text(int(np.argmax(self.position.legal_mask)))
        pass_line = "" if self.position.env.pass_action is None else "\n  pass        let the other side move"
        # Only games of Go are saved as SGF, and only in Go stones are counted.
        file_kind = " (SGF)" if self.env.has_sgf else ""
        alive_line = "\n  alive       when stones are counted: no stone is dead" if self.env.has_sgf else ""
        text = HELP.format(move=example, pass_line=pass_line, file_kind=file_kind, alive_line=alive_line)
        self.say("\n".join(filter(None, (text, self.board_view.pass_hint))))

    def score(self, _: str) -> None:
        """Show the score of the current board, the game's hint on passes, and the result that the network expects."""
        now = f"If the game ended here: {result_text(self.position.score())}."
        self.say("  ".join(filter(None, (now, self.board_view.pass_hint))))
        if self.is_over:
            return
        expected = estimate(self.analyst, self.position)
        if expected is not None:
            sentences, drawing = expected
            self.say(sentences)
            if drawing:
                self.screen.draw(drawing)
        elif self.env.has_ownership:
            self.say("That is the current board: this engine makes no forecast of the end.")

    def save(self, name: str, overwrites: bool = False) -> None:
        """Save the game.

        Args:
            name: the file's name as typed.
            overwrites: whether to replace, without asking, a file that is not of this game.
        """
        names = ("you", "alphago") if self.human > 0 else ("alphago", "you")
        try:
            data = self.files.contents(self.record(), self.is_over, names, self.count, is_agreed=not self.is_counting)
            path = self.files.save(name, data, overwrites)
        except (ValueError, OSError) as reason:
            raise RefusedCommand(f"Not saved: {reason}") from None
        self.say(f"Saved in {path}.")

    def load(self, name: str) -> None:
        """Load a game and continue it."""
        try:
            self.continue_from(self.files.load(name))
        except (ValueError, OSError) as reason:
            raise RefusedCommand(f"Not loaded: {reason}") from None

    def record(self) -> GameRecord:
        """Return the game as a record, with the values and visits of the engine's searches."""
        winner = -self.loser or None  # None: the record has the result on the board
        return make_record(self.env, self.position, self.searched, winner, resigned=winner is not None)

    def resign(self, loser: int) -> None:
        """End the game by the resignation of `loser`, +1 or -1, unless it is over already."""
        if self.is_over:
            raise RefusedCommand("The game is over already")
        self.loser = loser
        self.say("You resign." if loser == self.human else "The engine resigns.")

    def quit(self, _: str = "") -> None:
        """Leave the game; announce the result of a finished game whose stones are still being counted."""
        self.has_left = True
        if self.is_counting:
            self.announce_result()
        if not self.is_over:
            self.say(f"You left the game after {len(self.position.moves)} moves.")

    def announce_result(self) -> None:
        """Say who wins, by the count if the game was counted, and the teacher's summary of the game."""
        self.is_announced = True
        result = result_view(self.position, self.loser, self.count)
        if not result["winner"]:
            self.say(f"{result['short']}: nobody wins.")
        else:
            self.say(f"{result['short']}: {self.board_view.side(result['winner'])} wins.")
            self.say("You win!" if result["winner"] == self.human else "The engine wins.")
        if self.teacher is not None:
            self.say(self.teacher.summary(self.position))


def win_rate(answer: Answer) -> str:
    """Return the win rate of the player to move, such as "75 %", or "≈ 75 %" after few readouts."""
    (value,), _ = answer.found.root_readings  # of the one position: the value for the player to move, and the score
    about = "≈ " if answer.found.root_visits[0] < SURE_READOUTS else ""
    return f"{about}{50 * (1 + value):.0f} %"

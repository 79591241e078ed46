"""A game against the engine, typed at a terminal."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from alphago.env.game import PLAYER_NAMES, GameEnv, IllegalMove, Position
from alphago.env.go_position import result_text
from alphago.mcts.player import MCTSPlayer

HELP = """\
  {move:7} a move, written like this one
  pass    pass, in games that know it
  undo    take back your last move and what followed it
  hint    what the engine would play for you
  score   who would win if the game ended here
  resign  give the game up
  quit    leave without a result
  help    this list"""

Read = Callable[[str], str]  # a prompt in, a line out; EOFError when there are no more lines
Write = Callable[[str], object]  # receives whole lines


def play(
    env: GameEnv,
    nn: Any = None,
    num_readouts: int = 800,
    mode: int = 0,
    *,
    tower_height: int | None = None,
    read: Read | None = None,
    write: Write | None = None,
) -> Position:
    """Plays one game against `nn` at the terminal and returns the position in which it was left.

    nn: whatever `MCTSPlayer` takes; without it an untrained network of `tower_height` blocks, which
        plays badly and is announced as such.
    num_readouts: simulations for every move of the engine and every hint.
    mode: 0, you are Black (the first player); 1, you are White.  As in AlphaGo.jl.
    read, write: used instead of `input` and `print`.

    End of input and Ctrl-C leave the game, also while the engine thinks.  A resignation is announced
    but no part of the position: its `is_over` stays False.
    """
    if mode not in (0, 1):
        raise ValueError(f"mode is 0 (you are Black) or 1 (you are White), came {mode!r}")
    if nn is not None and tower_height is not None:
        raise ValueError("tower_height is for the untrained network that plays when none is given")
    read, write = read or _ask, write or _print
    try:
        if nn is None:
            nn = _untrained(env, tower_height)
            write("No network was given: your opponent is untrained.  train(env) makes a better one.")
        player = MCTSPlayer(env, nn, num_readouts=num_readouts, two_player_mode=True)
        game = TerminalGame(player, 1 if mode == 0 else -1, read, write)
    except KeyboardInterrupt:
        write("")
        return env.position()
    return game.run()


def _ask(prompt: str) -> str:
    """`input`, for which a closed input is at its end and bytes that are no text are a typo."""
    if sys.stdin is None:  # it was closed before Python started
        raise EOFError
    try:
        return input(prompt)
    except UnicodeDecodeError:
        return "\N{REPLACEMENT CHARACTER}"


def _print(text: str) -> None:
    """`print` that is seen at once, also through a pipe."""
    print(text, flush=True)


def _untrained(env: GameEnv, tower_height: int | None) -> Any:
    from alphago.nn.net import NeuralNet  # only now: playing a given network need not load torch

    return NeuralNet(env) if tower_height is None else NeuralNet(env, tower_height=tower_height)


class TerminalGame:
    """One game between a person and an engine; `run` plays it.

    player: an `MCTSPlayer`; it is put to the start position.
    human: +1 if the person is Black, the first player, -1 if White.
    """

    def __init__(self, player: MCTSPlayer, human: int, read: Read, write: Write) -> None:
        player.initialize_game()
        self.player = player
        self.human = human
        self.read = read
        self.write = write
        self.positions: list[Position] = [player.position]  # all of the game, the last one stands
        self.left = False  # the person has gone
        self.resigned = False
        self.commands: dict[str, Callable[[], None]] = {
            "undo": self.undo,
            "hint": self.hint,
            "score": self.score,
            "resign": lambda: self.resign(self.human),
            "quit": self.quit,
            "help": self.help,
        }

    @property
    def position(self) -> Position:
        return self.positions[-1]

    def run(self) -> Position:
        """Plays to the end, or until the person leaves; returns the last position."""
        try:
            self.say(f"You are {PLAYER_NAMES[self.human]}.  `help` lists what you can type.")
            self.say(str(self.position))
            while not (self.left or self.resigned or self.position.is_over):
                if self.position.to_play == self.human:
                    self.human_turn()
                else:
                    self.engine_turn()
        except (EOFError, KeyboardInterrupt):
            self.say("")  # ends the line of the prompt
            self.quit()
        if not self.left:
            self.announce_result()
        return self.position

    def say(self, text: str) -> None:
        self.write(text)

    def human_turn(self) -> None:
        """One line of input: a command or a move."""
        text = self.read(f"Your move ({PLAYER_NAMES[self.human]}): ").strip()
        command = self.commands.get(text.lower())
        if command is not None:
            command()
        elif text:
            self.try_move(text)

    def try_move(self, text: str) -> None:
        """Plays a typed move, or says why not."""
        try:
            self.play_move(self.player.position.env.from_text(text))
        except IllegalMove as reason:
            self.say(f"{reason}.")
        except ValueError as reason:
            self.say(f"{reason}; `help` lists the commands.")

    def play_move(self, action: int) -> None:
        self.player.play_move(action)
        self.positions.append(self.player.position)
        self.say(str(self.position))

    def engine_turn(self) -> None:
        engine = -self.human
        self.say("The engine is thinking.")
        action = self.player.suggest_move()
        if self.player.should_resign():
            self.resign(engine)
            return
        # The value is asked before the move: afterwards it is the view of whoever moves then.
        move, chance = self.position.env.to_text(action), win_rate(self.player.root_value)
        self.play_move(action)
        self.say(f"The engine ({PLAYER_NAMES[engine]}) played {move} and sees its chance to win at {chance}.")

    def hint(self) -> None:
        action = self.player.suggest_move()
        move, chance = self.position.env.to_text(action), win_rate(self.player.root_value)
        self.say(f"The engine would play {move} for you and sees your chance to win at {chance}.")

    def undo(self) -> None:
        """Goes back to where the person last chose a move."""
        before = [i for i, position in enumerate(self.positions[:-1]) if position.to_play == self.human]
        if not before:
            self.say("You have not moved yet: there is nothing to take back.")
            return
        del self.positions[before[-1] + 1 :]
        self.player.initialize_game(self.position)
        self.say(str(self.position))

    def help(self) -> None:
        example = self.position.env.to_text(int(np.argmax(self.position.legal_mask)))
        self.say(HELP.format(move=example))

    def score(self) -> None:
        self.say(f"If the game ended here: {result_text(self.position.score())}.")

    def resign(self, loser: int) -> None:
        self.resigned = True
        self.player.set_result(-loser, True)
        self.say("You resign." if loser == self.human else "The engine resigns.")

    def quit(self) -> None:
        self.left = True
        self.say(f"You left the game after {len(self.position.moves)} moves.")

    def announce_result(self) -> None:
        result, text = self.player.result, self.player.result_string
        if result == 0:
            self.say(f"{text}: nobody wins.")
        else:
            self.say(f"{text}: {PLAYER_NAMES[1 if result > 0 else -1]} wins.")
            self.say("You win!" if result * self.human > 0 else "The engine wins.")


def win_rate(value: float) -> str:
    """A value of -1 .. 1 as a chance: '75 %'."""
    return f"{50 * (1 + value):.0f} %"

"""The function `play`: it sets up a game against an engine, at the terminal or in a notebook."""

from contextlib import nullcontext
from typing import TYPE_CHECKING

from alphago.env.game import GameEnv, check_env
from alphago.env.games import require_go
from alphago.env.go_rules import handicap_komi
from alphago.env.position import Position
from alphago.mcts.analyst import Analyst
from alphago.mcts.evaluator import network_and_game
from alphago.mcts.levels import Level, check_level
from alphago.mcts.player import USUAL_LEAVES
from alphago.mcts.puct import Puct
from alphago.mcts.questions import Limit
from alphago.system.optional import notebook_shell
from alphago.system.validation import MOST_READOUTS, check_int, check_positive, checks_keywords, list_keywords
from alphago.ui.teacher import Teacher
from alphago.ui.terminal.screen import Read, Screen, Write, line_editing
from alphago.ui.terminal.terminal_game import FILE_COMMANDS, TerminalGame

if TYPE_CHECKING:
    from alphago.ui.notebook_game import NotebookGame


@checks_keywords()
def play(
    env: GameEnv,
    nn: object = None,
    num_readouts: int | None = 800,
    mode: int = 0,
    *,
    seconds: float | None = None,
    handicap: int = 0,
    komi: float | None = None,
    level: Level | None = None,
    teach: float | None = None,
    device: str = "auto",
    tower_height: int | None = None,
    read: Read | None = None,
    write: Write | None = None,
) -> "Position | NotebookGame":
    """Play one game against `nn` at the terminal and return its last position.

    In a notebook with anywidget a board appears below the cell, and the call returns at once: a
    `alphago.ui.notebook_game.NotebookGame`, whose `position` is always the current one.

    End of input and Ctrl-C leave the game, also while the engine thinks.  A resignation is announced but is not part of
    the position: its `is_over` stays False.

    Args:
        nn: as in `MCTSPlayer`; None for an untrained network of `tower_height` blocks, which plays badly.  A network
            resigns when its value stays below the threshold that its training run has measured, but only in games like
            that run's (`MCTSPlayer.should_resign`); other engines never resign.
        tower_height: blocks of the untrained network; if a network is given, None or that network's number of blocks.
        num_readouts: simulations for every move of the engine and every hint; 0 plays the network's most probable move
            without search, None searches for `seconds`.
        mode: 0, you are Black (the first player); 1, you are White.  As in AlphaGo.jl.
        seconds: time limit of every search; None for no limit.
        handicap: number of Black's handicap stones in Go, as in `GoEnv.position`; White then moves first.
        komi: White's points in a game with handicap.  None for 0.5 if the game has the usual komi of its board size,
            else for the game's own komi.
        level: the engine's strength, from 1 (a beginner) to 10, or "even" to follow yours (see `alphago.mcts.levels`);
            None for full strength.  Hints are always of full strength.
        teach: points; a move of yours that loses more is explained and may be taken back (see `alphago.ui.teacher`).
            None for no explanations.
        device: for the network, as in `MCTSPlayer`; boards of a single game are in the CPU's memory.
        read, write: used instead of `input` and `print`.

    Raises:
        ValueError: for an invalid mode, limit or handicap, and for a `tower_height` other than the network's.
    """
    check_env(env)
    if mode not in (0, 1):
        raise ValueError(f"mode must be 0 (you are Black) or 1 (you are White), got {mode!r}")
    check_height(nn, tower_height)
    level = None if level is None else check_level(level)
    teach = None if teach is None else check_positive("teach", teach)
    if handicap and "handicap" not in list_keywords(env.position):
        raise ValueError(f"handicap must be 0 in {env.title}, got {handicap!r}")
    nn, env = network_and_game(nn, env)  # the same game; with a file of KataGo's networks it has KataGo's planes
    start = env.position()
    if handicap:
        usual = handicap_komi(env.N, require_go(env, "handicap stones").komi)
        start = env.position(handicap=handicap, komi=usual if komi is None else komi)
    limit, screen = move_limit(num_readouts, seconds), Screen(read, write)
    if nn is None:
        from alphago.nn.net import NeuralNet  # only now: playing a given network need not load torch

        nn = NeuralNet(env) if tower_height is None else NeuralNet(env, tower_height=tower_height)
        screen.say("No network was given: your opponent is untrained.  train(env) makes a better one.")
    if read is None and write is None and notebook_shell() is not None:
        from alphago.ui.notebook_game import NotebookGame  # only now: it loads what the page needs

        try:
            board = NotebookGame(start, nn, mode, limit, level=level, teach=teach, device=device)
            board.show()
            return board
        except ImportError as missing:
            screen.say(f"Here the game is played in text: {missing}.")
    analyst = Analyst(nn, settings=Puct(leaves=USUAL_LEAVES), device=device)
    analyst.evaluators(env)  # raises an error of the network before the game begins
    teacher = None if teach is None else Teacher(analyst, teach)
    human = 1 if mode == 0 else -1
    game = TerminalGame(analyst, start, human, screen, limit, level=level, teacher=teacher)
    with analyst, line_editing(game.words, FILE_COMMANDS) if screen.interactive else nullcontext():
        return game.run()


def move_limit(num_readouts: int | None, seconds: float | None) -> Limit:
    """Return the limit of the search for a move; raise ValueError if both arguments are None, or for invalid ones.

    Args:
        num_readouts: simulations; None for no limit.
        seconds: time; None for no limit.
    """
    if num_readouts is None and seconds is None:
        raise ValueError("num_readouts or seconds must limit a move, got None for both")
    if num_readouts is not None:
        check_int("num_readouts", num_readouts, 0, MOST_READOUTS)
    return Limit(num_readouts, seconds)


def check_height(nn: object, tower_height: int | None) -> None:
    """Raise ValueError for a `tower_height` other than that of a given network.

    Args:
        nn: the network; None if none was given.
    """
    height = getattr(nn, "tower_height", None)  # None for a network without blocks
    if nn is None or tower_height in (None, height):
        return
    allowed = "left out with a given network" if height is None else f"left out or {height}, the given network's"
    raise ValueError(f"tower_height must be {allowed}, got {tower_height}")

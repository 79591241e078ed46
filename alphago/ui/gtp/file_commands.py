"""GTP commands that read and write SGF: `loadsgf` and `printsgf`."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from alphago.env.go_count import count_as_alive
from alphago.env.go_rules import read_rules
from alphago.env.position import IllegalMove
from alphago.records.sgf import SgfGame, salvage_sgf
from alphago.records.sgf.document import format_continued
from alphago.records.sgf.faults import ACCEPTED, BOARD, FATAL, FINAL_SET_UP, HANDICAP, SET_UP, Fault
from alphago.system.files import check_regular, user_path, write_atomic
from alphago.ui.gtp.gtp_engine import GtpEngine, print_message, printed_failure
from alphago.ui.gtp.gtp_game import GtpGame, LoadedGame
from alphago.ui.gtp.protocol import GtpFailure, argument, integer

BEGIN_BYTES = 4096  # bytes at the beginning of a file that show whether it is SGF
INTEGER = re.compile("[+-]?[0-9]+")
SGF_BEGIN = re.compile(rb"(?:\xef\xbb\xbf)?\s*\(\s*;")


def load(engine: GtpEngine, arguments: list[str]) -> None:
    """Load the first game in a file, with its board, komi and rules.

    As in other programs of GTP 2, the command fails, and changes nothing, if one of the moves to load is illegal
    or damaged.  Later moves may be illegal.

    Args:
        arguments: the file's name and, optionally, a number N, to load only the moves before move N.  A game with fewer
            moves is loaded up to its end.
    """
    argument(arguments, 0)  # fails without a name
    has_number = len(arguments) > 1 and INTEGER.fullmatch(arguments[-1])
    # `pop` leaves the words of the file's name.  No move comes before move 1, nor before a number below 1.
    count = max(0, integer(arguments.pop()) - 1) if has_number else None  # moves to load; None: all
    with printed_failure("cannot load file"):
        game = first_game(str(file_path(arguments)), count)
    if game.board_size != engine.env.N and not engine.plays_any_size:
        raise GtpFailure("cannot load file: unacceptable size")
    engine.continue_game(game_after(engine, game, game.moves[:count]))
    engine.clock.reset()
    if game.komi is not None:  # later games have it too, as after the command `komi`
        engine.komi = game.komi


def game_after(engine: GtpEngine, game: SgfGame, moves: tuple[int, ...]) -> GtpGame:
    """Return a file's game after some of its moves; raise GtpFailure for an illegal move.

    If the file gives no rules or no komi, they are the engine's.

    Args:
        moves: the first moves of `game`.
    """
    env = engine.game_for(game.board_size, read_rules(game.rules) or engine.rules)
    engine_komi = env.komi if engine.komi is None else engine.komi
    komi = engine_komi if game.komi is None else game.komi
    start = game.position(ply=0)  # with the file's set-up stones
    black, white = (np.flatnonzero(start.board.ravel() == side).tolist() for side in (1, -1))
    replayed = GtpGame(env, komi, black=black, white=white, first=start.to_play)
    for colour, action in zip(game.movers, moves, strict=False):  # `moves` may be fewer
        try:
            replayed.play(colour, action)
        except IllegalMove as error:
            raise GtpFailure(f"cannot load file: {error}") from None
    if len(moves) == len(game.moves):  # the file may say who is to move after all its moves
        replayed.next_colour = game.to_play
    replayed.loaded = LoadedGame(game, komi, env.rules)
    return replayed


def write(engine: GtpEngine, arguments: list[str]) -> str:
    """Write the game to a file as SGF; without a file's name, or for "-", return its text instead.

    Since the command may come from another machine, it writes only files named .sgf, and replaces only SGF files.
    """
    with printed_failure("cannot save file"):
        text = sgf_of_game(engine)
        if not arguments or arguments[0] == "-":
            return text.decode()
        path = file_path(arguments)
        check_target(path)
        write_atomic(path, text)
    return ""


def sgf_of_game(engine: GtpEngine) -> bytes:
    """Return the game as SGF; after two passes it has its result and territory.

    What was not changed since the game was loaded is written as in its file.
    """
    position, loaded = engine.game.position, engine.game.loaded
    # The set-up without its komi, which is in `fields`.
    setup = {name: value for name, value in position.setup.items() if name in ("black", "white", "to_play")}
    # `count_as_alive` returns None unless two passes have ended the game.
    count = None if count_as_alive(position) is None else engine.count()
    fields = {"movers": position.movers, "komi": position.komi, "result": "" if count is None else count.result}
    game = SgfGame.in_game(position.env, position.moves, setup=setup, **fields)
    if loaded is None:
        return format_continued(game, None, count)
    changed: dict[str, Any] = {} if position.komi == loaded.komi else {"komi": position.komi}
    if position.env.rules != loaded.rules:
        changed["rules"] = game.rules
    return format_continued(game, loaded.game, count, **changed)


COMMANDS = {"loadsgf": load, "printsgf": write}


def file_path(words: list[str]) -> Path:
    """Return the path of a file, given its name as words of a command; the name may be in quotes and have spaces."""
    name = " ".join(words)
    is_quoted = len(name) > 1 and name[0] == name[-1] and name[0] in "\"'"
    return user_path(name[1:-1] if is_quoted else name)


def check_target(path: Path) -> None:
    """Raise ValueError if `path` is not named .sgf, or if a file there is neither SGF nor empty.

    Raises:
        OSError: if the file cannot be read.
    """
    if path.suffix.lower() != ".sgf":
        raise ValueError(f"printsgf must write a file named .sgf, got {path}")
    check_regular(path)
    if path.exists():
        with open(path, "rb") as file:
            begin = file.read(BEGIN_BYTES)
        if begin.strip() and not SGF_BEGIN.match(begin):
            raise ValueError(f"{path} exists and is no SGF file, so printsgf does not replace it")


def first_game(name: str, count: int | None) -> SgfGame:
    """Return the first game in a file, and print its faults.

    Args:
        name: the file's path.
        count: the number of moves that are needed, None for all.

    Raises:
        ValueError: for a fault that may change the position after these moves.
        GtpFailure: if the board is not square.
        OSError: if the file cannot be read.
    """
    games = salvage_sgf(name)
    game = next(games)
    for fault in game.faults:
        if fault.kind == BOARD:
            print_message(fault.of(name))
            raise GtpFailure("cannot load file: unacceptable size")
        if may_change_position(fault, game, count):
            raise ValueError(fault.of(name))
        print_message(fault.of(name))
    if game.scoring_notice:
        print_message(f"{name}: {game.scoring_notice}")
    if next(games, None) is not None:
        print_message(f"{name} holds several games; the first one is loaded")
    return game


def may_change_position(fault: Fault, game: SgfGame, count: int | None) -> bool:
    """Return whether a fault of a game's file may change the position after `count` moves; None for all moves."""
    if fault.kind == HANDICAP:  # the stones are missing if White begins on an empty board
        return game.setup.get("to_play") == "white" and not game.setup.get("black")
    if fault.kind == FINAL_SET_UP:  # it sets stones up after the last move
        return count is None
    if fault.kind == SET_UP or fault.kind in FATAL:
        return True
    # A fault about a move ends the game before this move, unless its kind is in ACCEPTED.
    ends_game = fault.move is not None and fault.kind not in ACCEPTED
    return ends_game and (count is None or len(game.moves) < count)

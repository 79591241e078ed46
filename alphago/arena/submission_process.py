"""The process of a submission: `python -m alphago.arena.submission_process FILE`, started by `SubmissionProcess`.

Each line on stdin has a reply in the form of GTP.  "begin" comes with the game, as `submission.game_text` writes it,
and imports the file.  "choose" comes with a seed and the moves of a game; the reply is the move that the file's
`choose` returns.  A failure reply is a sentence.  What the file prints goes to stderr.
"""

import json
import os
import random
import runpy
import sys
import traceback
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from alphago.system.own_modules import import_class
from alphago.system.validation import shortened

LONGEST = 300  # letters of an answer


def main() -> None:
    """Answer the lines on stdin until it ends; a reply is "= TEXT" or "? TEXT" and an empty line."""
    (file,) = sys.argv[1:]
    # The file gets an empty input, and stderr as its output; the pipes stay for this process.
    lines, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    env, choose = None, None
    for line in lines:
        _, *words = line.split()  # without "begin" or "choose": which of them it is follows from what came before
        try:
            if choose is None:  # the line is "begin": no file has been imported yet
                name, config = json.loads(bytes.fromhex(words[0]))
                env = import_class(name)(**config)
                choose = read_function(file, env)
                answer = ""
            else:
                answer = move_text(env, choose, os.path.basename(file), *words)
            print("=", answer[:LONGEST], end="\n\n", file=answers, flush=True)
        except (Exception, SystemExit) as error:
            text = " ".join(f"{line_of(error, file)}{type(error).__name__}: {error}".split())
            print("?", shortened(text, LONGEST), end="\n\n", file=answers, flush=True)


def read_function(file: str, env: Any) -> Callable[[Any], object]:
    """Return the function `choose` of a file; load the game's kernels too, before a move is timed."""
    start = env.position()
    start.play(int(start.legal_mask.argmax())).planes()
    choose = runpy.run_path(file, run_name="submission").get("choose")
    if not callable(choose):
        raise TypeError(f"choose must be a function of this file, got {choose!r}")
    return choose


def move_text(env: Any, choose: Callable[[Any], object], name: str, seed: str, *moves: str) -> str:
    """Return the move that a function chooses after these moves, as text.

    The function may return an action, or a move in words such as "D4".  Whatever is not an action is passed on as text;
    the reader of the reply checks whether it is a move.

    Args:
        name: the file's name, mixed into the seed, so that two submissions in a game draw different random numbers.
    """
    mixed_seed = zlib.crc32(f"{name} {seed}".encode())
    random.seed(mixed_seed)
    np.random.seed(mixed_seed)
    move: Any = choose(env.position().after(moves))
    is_action = isinstance(move, (int, np.integer)) and 0 <= move < env.action_space
    return env.to_text(int(move)) if is_action else " ".join(str(move).split())


def line_of(error: BaseException, file: str) -> str:
    """Return the last line of the file that led to an error, as "line 12: "; "" if there is none."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f"line {lines[-1]}: " if lines else ""


if __name__ == "__main__":
    main()

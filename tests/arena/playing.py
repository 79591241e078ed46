"""Engines written for tests, and matches on a given number of cores."""

import os
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alphago import GameEnv, MatchResult, Position
from alphago.arena.engine import Engine, EngineError, gnugo
from alphago.arena.entrant import Entrant, resolve_player
from alphago.arena.match import play_match
from alphago.arena.match_games import MatchPlan, MatchSetup
from alphago.arena.match_result import MatchGame

# Answers every command with success; genmove plays the points of its first argument in turn, then passes.
ENGINE = """
import sys, time
moves = sys.argv[1].split()
def reply(text=""):
    print("= " + text + "\\n", flush=True)
print("hello from the engine", file=sys.stderr, flush=True)
for line in sys.stdin:
    words = line.split()
    if words[0] == "genmove":
        {genmove}
    elif words[0] == "play":
        {play}
    elif words[0] == "final_score":
        {final_score}
    elif words[0] == "quit":
        reply()
        break
    else:
        reply()
"""
FAKE_GNUGO = r"""#!/bin/sh
while [ $1 != --seed ]; do shift; done
seed=$2
while read command rest; do
  case $command in
    CASES
    *) printf '= \n\n' ;;
  esac
done
"""
BODIES = {"genmove": 'reply(moves.pop(0) if moves else "pass")', "play": "reply()", "final_score": 'reply("B+8.5")'}


def scripted(folder: Path, moves: str = "", *, timeout: float = 20.0, name: str = "engine", **bodies: str) -> Engine:
    """An engine whose `genmove`, `play` and `final_score` run the given lines of Python."""
    path = folder / f"{name}.py"
    path.write_text(ENGINE.format(**{**BODIES, **bodies}))
    return Engine(name, (sys.executable, str(path), moves, "{seed}"), timeout=timeout)


def install_fake_gnugo(patch: pytest.MonkeyPatch, folder: Path, *cases: str) -> None:
    """Make a program the `gnugo` of this machine, which answers by cases of sh, where $seed is its game's."""
    path = folder / "bin" / "gnugo"
    path.parent.mkdir(exist_ok=True)
    path.write_text(FAKE_GNUGO.replace("CASES", "\n".join(cases)))
    path.chmod(0o755)
    patch.setenv("PATH", str(path.parent), prepend=os.pathsep)


def installed_gnugo() -> Engine:
    """GNU Go at its lowest level; skips the test where it is not installed."""
    try:
        return gnugo(1)
    except EngineError as error:
        pytest.skip(str(error))


def passes(position: Position) -> tuple[np.ndarray, float]:
    """A network that always passes, since it takes every game for lost."""
    return np.eye(position.env.action_space)[-1], -float(position.to_play)


def match_on(
    cores: int,
    env: GameEnv,
    black: Any,
    white: Any,
    games: int,
    readouts: int = 0,
    stop: threading.Event | None = None,
    **plan: int,
) -> MatchResult:
    """A match without chance in the opening, on so many cores."""
    entrants = Entrant(resolve_player(black, env), readouts), Entrant(resolve_player(white, env), readouts)
    plan = {"sampled_plies": 0, "random_opening": 0, "seed": 0, "leaves": 1, **plan}
    played: list[MatchGame] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("alphago.arena.match.available_cores", lambda: cores)
        play_match(MatchSetup(env, entrants, MatchPlan(games, **plan)), range(games), played.append, stop=stop)
    return MatchResult.of(env, played)

"""An engine as a controller sees it: lines go in, replies come out."""

import io

import numpy as np

from alphago.env.game import Position
from alphago.env.go import GoEnv
from alphago.mcts.evaluator import UniformEvaluator
from alphago.ui.gtp.commands import GoEngine
from alphago.ui.gtp.protocol import converse

BLACK, WHITE = 1, -1
COMMANDS = """\
protocol_version
known_command
list_commands
quit
name
version
boardsize
clear_board
komi
play
genmove
undo
showboard
final_score
fixed_handicap
place_free_handicap
set_free_handicap
kgs-rules
kata-set-rules
kata-get-rules
time_settings
time_left"""


def engine(size: int = 5, network=None, readouts: int = 8, **options) -> GoEngine:
    return GoEngine(GoEnv(size), network or UniformEvaluator(), readouts, **options)


def ask(game: GoEngine, *lines: str) -> list[str]:
    """The replies without their frames: 'A1', or '? illegal move'."""
    output = io.StringIO()
    converse(game.commands, lines, output)
    replies = output.getvalue().split("\n\n")
    assert replies.pop() == ""
    return [text if text[0] == "?" else text.removeprefix("= ") for text in replies]


def prefers(*points: str, value: float = 0.0):
    """A network that likes the first of these points that is legal best, and sees this value for Black."""

    def network(position: Position) -> tuple[np.ndarray, float]:
        policy = np.full(position.env.action_space, 1e-3)
        for rank, point in enumerate(points):
            policy[position.env.from_text(point)] = 1000.0 / (rank + 1)
        return policy, value

    return network

"""AlphaZero on your own machine: train a network, study it, play it.

from alphago import GoEnv, train, play

env = GoEnv(9)
net = train(env, num_games=100, ckp_freq=10, tower_height=10, start_training_after=500)
play(env, net, mode=1)
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from alphago.arena.match import MatchResult, evaluate
    from alphago.arena.strength_picture import plot_strength
    from alphago.arena.tuning import Tuning, tune
    from alphago.env.batch import GameBatch
    from alphago.env.check import check_game
    from alphago.env.connect_four import ConnectFourEnv
    from alphago.env.game import GameEnv
    from alphago.env.go import GoEnv
    from alphago.env.gomoku import GomokuEnv
    from alphago.env.oware import OwareEnv
    from alphago.env.position import IllegalMove, Position
    from alphago.env.reversi import ReversiEnv
    from alphago.exams.exam_result import ExamResult
    from alphago.exams.taking import exam
    from alphago.mcts.analysis import analyze, iter_analysis
    from alphago.mcts.analysis_result import Analysis
    from alphago.mcts.gumbel import Gumbel
    from alphago.mcts.player import MCTSPlayer
    from alphago.mcts.puct import Puct
    from alphago.mcts.rule import SearchSettings
    from alphago.nn.net import NeuralNet, load_model
    from alphago.records.dataset import Dataset
    from alphago.records.importing import import_games
    from alphago.records.record import GameRecord
    from alphago.training.call.selfplay_call import selfplay
    from alphago.training.call.session import train
    from alphago.training.memory import ReplayMemory
    from alphago.training.own_samples import train_on
    from alphago.training.supervised.call import predict_games, train_supervised
    from alphago.training.sweeps.sweep import sweep
    from alphago.training.sweeps.sweep_result import SweepResult
    from alphago.training.watch.plots import plot
    from alphago.training.watch.report import Report
    from alphago.ui.onefile.page import export_page
    from alphago.ui.terminal.play_call import play
    from alphago.ui.why.explain import Explanation, explain

__version__ = "0.1.0"

# Where each public name lives, lowest floor first; nothing is imported before it is used.
_HOMES = {
    "GameEnv": "alphago.env.game",
    "GameBatch": "alphago.env.batch",
    "Position": "alphago.env.position",
    "IllegalMove": "alphago.env.position",
    "GoEnv": "alphago.env.go",
    "GomokuEnv": "alphago.env.gomoku",
    "ConnectFourEnv": "alphago.env.connect_four",
    "ReversiEnv": "alphago.env.reversi",
    "OwareEnv": "alphago.env.oware",
    "check_game": "alphago.env.check",
    "NeuralNet": "alphago.nn.net",
    "load_model": "alphago.nn.net",
    "GameRecord": "alphago.records.record",
    "Dataset": "alphago.records.dataset",
    "import_games": "alphago.records.importing",
    "SearchSettings": "alphago.mcts.rule",
    "Puct": "alphago.mcts.puct",
    "Gumbel": "alphago.mcts.gumbel",
    "MCTSPlayer": "alphago.mcts.player",
    "Analysis": "alphago.mcts.analysis_result",
    "analyze": "alphago.mcts.analysis",
    "iter_analysis": "alphago.mcts.analysis",
    "MatchResult": "alphago.arena.match",
    "evaluate": "alphago.arena.match",
    "plot_strength": "alphago.arena.strength_picture",
    "Tuning": "alphago.arena.tuning",
    "tune": "alphago.arena.tuning",
    "ExamResult": "alphago.exams.exam_result",
    "exam": "alphago.exams.taking",
    "ReplayMemory": "alphago.training.memory",
    "selfplay": "alphago.training.call.selfplay_call",
    "train": "alphago.training.call.session",
    "train_supervised": "alphago.training.supervised.call",
    "predict_games": "alphago.training.supervised.call",
    "train_on": "alphago.training.own_samples",
    "sweep": "alphago.training.sweeps.sweep",
    "SweepResult": "alphago.training.sweeps.sweep_result",
    "Report": "alphago.training.watch.report",
    "plot": "alphago.training.watch.plots",
    "export_page": "alphago.ui.onefile.page",
    "play": "alphago.ui.terminal.play_call",
    "Explanation": "alphago.ui.why.explain",
    "explain": "alphago.ui.why.explain",
}

__all__ = [
    "Analysis",
    "ConnectFourEnv",
    "Dataset",
    "ExamResult",
    "Explanation",
    "GameBatch",
    "GameEnv",
    "GameRecord",
    "GoEnv",
    "GomokuEnv",
    "Gumbel",
    "IllegalMove",
    "MCTSPlayer",
    "MatchResult",
    "NeuralNet",
    "OwareEnv",
    "Position",
    "Puct",
    "ReplayMemory",
    "Report",
    "ReversiEnv",
    "SearchSettings",
    "SweepResult",
    "Tuning",
    "analyze",
    "check_game",
    "evaluate",
    "exam",
    "explain",
    "export_page",
    "import_games",
    "iter_analysis",
    "load_model",
    "play",
    "plot",
    "plot_strength",
    "predict_games",
    "selfplay",
    "sweep",
    "train",
    "train_on",
    "train_supervised",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'alphago' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})

"""The public names, for type checkers and for __init__.py, which imports a name from its module when it is used."""

from alphago.arena.match import evaluate as evaluate
from alphago.arena.match_result import MatchResult as MatchResult
from alphago.arena.strength_picture import plot_strength as plot_strength
from alphago.env.batch import GameBatch as GameBatch
from alphago.env.check import check_game as check_game
from alphago.env.connect_four import ConnectFourEnv as ConnectFourEnv
from alphago.env.game import GameEnv as GameEnv
from alphago.env.go import GoEnv as GoEnv
from alphago.env.gomoku import GomokuEnv as GomokuEnv
from alphago.env.oware import OwareEnv as OwareEnv
from alphago.env.position import IllegalMove as IllegalMove
from alphago.env.position import Position as Position
from alphago.env.reversi import ReversiEnv as ReversiEnv
from alphago.env.vector import VectorEnv as VectorEnv
from alphago.exams.exam_call import exam as exam
from alphago.exams.exam_result import ExamResult as ExamResult
from alphago.mcts.analysis import analyze as analyze
from alphago.mcts.analysis import iter_analysis as iter_analysis
from alphago.mcts.analysis_result import Analysis as Analysis
from alphago.mcts.gumbel import Gumbel as Gumbel
from alphago.mcts.player import MCTSPlayer as MCTSPlayer
from alphago.mcts.puct import Puct as Puct
from alphago.mcts.rule import SearchSettings as SearchSettings
from alphago.nn.net import NeuralNet as NeuralNet
from alphago.nn.net import load_model as load_model
from alphago.records.dataset import Dataset as Dataset
from alphago.records.dataset_import import import_games as import_games
from alphago.records.record import GameRecord as GameRecord
from alphago.training.call.selfplay_call import selfplay as selfplay
from alphago.training.call.train_call import train as train
from alphago.training.memory import ReplayMemory as ReplayMemory
from alphago.training.own_samples import train_on as train_on
from alphago.training.supervised.call import predict_games as predict_games
from alphago.training.supervised.call import train_supervised as train_supervised
from alphago.training.sweeps.sweep import SweepResult as SweepResult
from alphago.training.sweeps.sweep import sweep as sweep
from alphago.training.watch.plots import plot as plot
from alphago.training.watch.report import Report as Report
from alphago.ui.onefile.page import export_page as export_page
from alphago.ui.terminal.play_call import play as play
from alphago.ui.why.explain import Explanation as Explanation
from alphago.ui.why.explain import explain as explain

__version__: str

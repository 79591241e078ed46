"""Compile the kernels of games, searches and players, for which numba and numpy suffice."""

import gc

import numpy as np

from alphago.arena.alphabeta import AlphaBetaPlayer, AlphaBetaSettings
from alphago.arena.playout_player import PlayoutPlayer, rave, uct
from alphago.env.check import check_game
from alphago.env.connect_four import ConnectFourEnv
from alphago.env.go import GoEnv
from alphago.env.gomoku import GomokuEnv
from alphago.env.oware import OwareEnv
from alphago.env.reversi import ReversiEnv
from alphago.mcts.warm_up import compile_player, compile_tree

gc.disable()  # as in alphago.mcts.warm_up
compile_tree()
compile_player()
for env in (GoEnv(5), ReversiEnv(4), ConnectFourEnv(), GomokuEnv(5, 4), OwareEnv()):
    check_game(env, games=1)
    if isinstance(env, GoEnv):
        players = [PlayoutPlayer(env, settings, 1) for settings in (uct(2), rave(2))]
    else:
        players = [AlphaBetaPlayer(env, AlphaBetaSettings(2), 1)]
    for player in players:
        player.choose(np.zeros(1, np.int64), np.zeros(1, np.bool_), np.zeros(1))

"""KaTrain without its window: its own engine, game and AI styles, played by a few moves.  Runs in KaTrain's Python.

    python drive_katrain.py remote ws://127.0.0.1:8270/analysis
    python drive_katrain.py custom "exec alphago analysis 7x7"

Prints a JSON object: what was seen.
"""

import json
import socket
import sys
import time
from types import SimpleNamespace

from katrain.core.ai import generate_ai_move
from katrain.core.base_katrain import KaTrainBase
from katrain.core.constants import AI_HUMAN, AI_PRO, AI_STRATEGIES, OUTPUT_ERROR, VERSION
from katrain.core.game import Game, Move
from katrain.core.remote_engine import make_engine

PATIENCE = 900.0
MOVES = (("B", "D4"), ("W", "C5"), ("B", "E5"))


class Headless(KaTrainBase):
    """The part of KaTrain that has no window, and what it would have shown."""

    def __init__(self, **engine):
        super().__init__(force_package_config=True, debug_level=0)
        self.errors, self.popups, self.shown = [], [], []
        self.controls = SimpleNamespace(set_status=lambda text, *_, **__: self.shown.append(text))
        self.pondering = False
        self._config["engine"].update(max_visits=30, fast_visits=10, max_time=PATIENCE, **engine)
        self._config["game"]["size"] = "7"

    def log(self, message, level=0):
        if level == OUTPUT_ERROR:
            self.errors.append(str(message))

    def __call__(self, message, *arguments, **_):
        self.popups.append([message, *map(str, arguments)])

    def update_state(self, *_, **__):
        pass


def until(what, holds):
    end = time.time() + PATIENCE
    while not holds():
        if time.time() > end:
            raise SystemExit(f"no {what}")
        time.sleep(0.01)


def main(backend, address):
    katrain = Headless(backend=backend, **{"remote_url" if backend == "remote" else "altcommand": address})
    engine = make_engine(katrain, katrain.config("engine"))
    game = katrain.game = Game(katrain, engine)
    until("analysis of the start", lambda: game.root.analysis_complete)
    seen = {"version": VERSION, "backend": type(engine).__name__, "rules": game.root.ruleset, "nodes": []}
    for player, point in MOVES:
        node = game.play(Move.from_gtp(point, player=player))
        until(f"analysis after {point}", lambda node=node: node.analysis_complete)
        root, best = node.analysis["root"], node.candidate_moves[0]
        numbers = {"visits": root["visits"], "winrate": root["winrate"], "score": root["scoreLead"]}
        numbers |= {"best": best["move"], "lost": best["pointsLost"], "pv": best["pv"]}
        seen["nodes"].append({**numbers, "policy": len(node.policy), "ownership": len(node.ownership)})
    seen["styles"] = {}
    for style in AI_STRATEGIES:
        if style in (AI_HUMAN, AI_PRO):  # these need a second network, of human play
            continue
        move, played = generate_ai_move(game, style, katrain.config(f"ai/{style}"))
        assert played is not None, style
        seen["styles"][style] = move.gtp()
        until(f"analysis after {style}", lambda: game.current_node.analysis_complete)
    node = game.current_node
    node.analyze(engine, ponder=True)
    until("pondering", lambda: node.root_visits > 100)
    engine.stop_pondering()
    until("end of pondering", engine.is_idle)
    seen["pondered"] = node.root_visits
    legal = next(p for p in ("A1", "G7", "A7", "G1", "B2", "F6") if is_free(game, p))
    node.analyze(engine, refine_move=Move.from_gtp(legal, player=node.next_player), visits=10, time_limit=False)
    until("refined move", lambda: legal in node.analysis["moves"])
    if backend == "remote":
        seen["resent"] = broken_off(engine, node)
    engine.on_new_game()
    fresh = Game(katrain, engine, game_properties={"SZ": "9", "RU": "chinese", "KM": "7"})
    until("another board", lambda: fresh.root.analysis_complete)
    seen["other board"] = fresh.root.root_visits
    engine.shutdown(finish=True)
    print(json.dumps({**seen, "errors": katrain.errors, "popups": katrain.popups, "shown": katrain.shown}))


def is_free(game, point):
    return all(stone.gtp() != point for stone in game.stones)


def broken_off(engine, node):
    """Cut the connection while a query is on its way: KaTrain connects again and sends it once more."""
    node.clear_analysis()
    node.analyze(engine, visits=3000, time_limit=False)
    until("query", lambda: bool(engine.queries))
    engine.ws.sock.shutdown(socket.SHUT_RDWR)
    until("answer after the break", lambda: node.analysis_complete)
    return node.root_visits


main(*sys.argv[1:])

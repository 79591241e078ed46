"""A reviewed game in KaTrain's own loader, without its window or an engine.  Runs in KaTrain's Python.

    python load_in_katrain.py game.reviewed.sgf

Prints a JSON object: what KaTrain would show at each position of the main line.
"""

import json
import sys

from katrain.core.constants import VERSION
from katrain.core.game import KaTrainSGF


def main(path):
    node, seen = KaTrainSGF.parse_file(path), []
    while node is not None:
        loaded = bool(node.analysis_from_sgf) and node.load_analysis()
        policy = node.policy and [(move.gtp(), p) for p, move in node.policy_ranking]
        facts = {"loaded": loaded, "complete": node.analysis_complete, "winrate": node.winrate, "score": node.score}
        facts |= {"visits": node.root_visits, "candidates": node.candidate_moves, "lost": node.points_lost}
        facts |= {"policy": policy, "ownership": node.ownership, "comment": node.comment(sgf=True, interactive=False)}
        seen.append(facts)
        node = node.ordered_children[0] if node.children else None
    print(json.dumps({"version": VERSION, "nodes": seen}))


main(*sys.argv[1:])

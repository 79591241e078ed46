"""The analysis of a game's positions as notes and as KaTrain's analyses, for the SGF file of a review."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from alphago.mcts.analysis_result import Analysis
from alphago.records.sgf import MoveNote
from alphago.records.sgf.notes import KATRAIN_ADDED, KATRAIN_VERSION, katrain_values
from alphago.ui.katago import line_texts, move_fields, root_fields


def notes_of(analysis: Analysis, moves: Sequence[int]) -> dict[int, MoveNote]:
    """Return the search's results for each position of a game as notes, by ply.

    analysis: of all positions: the first one and one after each move.  moves: the actions that were played.
    """
    black, notes = analysis.as_black(), {}
    for ply in range(len(black)):
        score = float(black.root_score[ply])
        played = moves[ply] if ply < len(moves) else None
        notes[ply] = MoveNote(
            float(black.value[ply]),
            int(black.root_visits[ply]) or None,
            None if played is None else float(black.prior[ply, played]),
            None if np.isnan(score) else score,
            None if played is None else int(black.visits[ply, played]),
        )
    return notes


def katrain_properties(analysis: Analysis, moves: Sequence[int]) -> dict[int, Mapping[str, Sequence[str]]]:
    """Return the analysis of each position of a game as KaTrain's SGF properties, by ply; arguments as above.

    The candidates are all moves with visits, each with its own numbers; without a search, the move with the greatest
    prior, with the position's numbers.  A move that was played without visits is added as KaTrain adds it: with the
    numbers of the position after it.
    """
    black = analysis.as_black()
    own = black.ownership
    found: dict[int, Mapping[str, Sequence[str]]] = {}
    for ply in range(len(black)):
        candidates = candidates_of(black, ply)
        if ply < len(moves) and all(one["move"] != analysis.env.to_text(moves[ply]) for one in candidates):
            candidates.append(added_move(black, ply, moves[ply]))
        policy = np.where(black.prior[ply] > 0, black.prior[ply], -1.0) if candidates else None
        owners = None if own is None else own[ply].ravel()
        values = katrain_values(root_fields(black, ply), candidates, policy, owners)
        found[ply] = {"KT": values, **({"KTV": [KATRAIN_VERSION]} if ply == 0 else {})}
    return found


def candidates_of(black: Analysis, ply: int) -> list[dict[str, Any]]:
    """Return KataGo's fields of the candidate moves of a position, best first."""
    return [move_fields(black, move, ply) | {"pv": line_texts(black, move)} for move in black.moves(ply, least=1)]


def added_move(black: Analysis, ply: int, action: int) -> dict[str, Any]:
    """Return KataGo's fields of a move that was played without being a candidate."""
    name = black.env.to_text(action)
    answers = black.moves(ply + 1, least=1)
    line = [name, *(line_texts(black, answers[0]) if answers else ())]
    prior = float(black.prior[ply, action])
    return {"move": name, "order": KATRAIN_ADDED, "pv": line, **root_fields(black, ply + 1), "prior": prior}

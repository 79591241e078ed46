"""Small exams with known losses, players with known answers, and an analysis engine that knows nothing."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from alphago import GoEnv, selfplay
from alphago.exams.positions import Exam, exam_env, read_exam
from alphago.mcts.evaluator import HashEvaluator
from alphago.records.record import records_to_bytes

SIZE = 3
ENV: GoEnv = exam_env(SIZE)

# Answers queries with numbers that depend on the moves only: a lead, and the win rate that goes with it.
# Its first argument: after how many answers it does what the second one says.
ENGINE = """
import hashlib, json, sys
count, last = 0, int(sys.argv[1]) if len(sys.argv) > 1 else -1
for line in sys.stdin:
    query = json.loads(line)
    if query.get("action") == "query_version":
        print(json.dumps({**query, "version": "0.7"}), flush=True)
    elif query.get("action") == "query_models":
        print(json.dumps({**query, "models": [{"name": "some/where/oracle.bin.gz"}]}), flush=True)
    else:
        if count == last:
            exec(sys.argv[2])
        count += 1
        text = " ".join(move for _, move in query["moves"])
        share = hashlib.sha256(text.encode()).digest()[0] / 255
        root = {"winrate": round(0.1 + 0.8 * share, 3), "scoreLead": round(6 * share - 3, 2)}
        assert query["overrideSettings"] == {"reportAnalysisWinratesAs": "BLACK"}
        reply = {"id": query["id"], "isDuringSearch": False, "rootInfo": root}
        if query.get("includeOwnership"):
            reply["ownership"] = [1 - point / 4 for point in range(9)]
            reply["moveInfos"] = [{"move": "A1", "visits": 3}, {"move": "pass", "visits": 1}]
        if query.get("includePolicy"):
            reply["policy"] = [-1] + [0.1] * 8 + [0.2]
        print(json.dumps({"id": query["id"], "isDuringSearch": True, "rootInfo": {}}))
        print(json.dumps(reply), flush=True)
"""


def row(moves: str = "B2", losses: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """A line of an exam on 3x3: every legal move loses one point and a tenth, except those in `losses`."""
    position = ENV.position().after(moves.split())
    legal = [ENV.to_text(int(action)) for action in np.flatnonzero(position.legal_mask)]
    lost = {move: [1.0, 0.1] for move in legal} | dict(losses or {})
    best = min(lost, key=lambda move: lost[move][0])
    one = {"size": SIZE, "komi": 0.5, "moves": moves, "black_win": 0.75, "black_lead": 2.0, "best": best, "lost": lost}
    return one | changes


def write(path: Path, *rows: Any) -> Path:
    """Write rows as an exam's file."""
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


def exam_of(path: Path, *rows: Any) -> Exam:
    return read_exam(write(path, *rows))


def save_games(folder: Path, readouts: int, count: int) -> Path:
    """Games on 3x3, as a file of records."""
    records = selfplay(GoEnv(3, komi=0.5), HashEvaluator(), readouts, count, seed=1, groups=1, opening_plies=3)
    (folder / "games.npz").write_bytes(records_to_bytes(records))
    return folder / "games.npz"


REFUSED = 'print(json.dumps({"error": "no more"}), flush=True)'  # instead of an answer


def engine(folder: Path, *arguments: object) -> str:
    """The command of the engine that knows nothing."""
    path = folder / "oracle.py"
    path.write_text(ENGINE)
    return " ".join([sys.executable, str(path), *(f"'{argument}'" for argument in arguments)])

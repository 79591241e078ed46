"""Label positions of games with a teacher's policy, win rate, lead and ownership, for supervised learning.

The teacher is any program that speaks KataGo's analysis protocol; this package has one for its own networks.  With one
readout a label's policy is the network's own; with more readouts it is the search's shares of visits.

The positions drawn depend only on the games and the settings, so a call can go on where an earlier one was stopped.
"""

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from alphago.env.go import GoEnv
from alphago.exams.analysis_client import AnalysisClient
from alphago.exams.drawn_positions import DrawnPosition, LabelSettings, draw, drawing_facts, read_games
from alphago.exams.positions import RULES, engine_text, exam_env
from alphago.records.dataset_writer import DatasetWriter
from alphago.records.labels import OWNED, label_dtype
from alphago.system.children import python_command
from alphago.system.validation import shown

# In all games together.  It is fixed, since a call that goes on must read the same games.
MOST_POSITIONS_READ = 4_000_000
AT_ONCE = 64  # positions under analysis at the same time


def label_games(
    dataset: str | Path,
    engine: str,
    games: Sequence[str | Path],
    size: int = 9,
    labelling: LabelSettings | None = None,
    *,
    tell: Callable[[int, int], object] = lambda done, total: None,
) -> int:
    """Make a labelled dataset, or go on with one that was begun, and return the number of its positions.

    Args:
        dataset: the folder.
        engine: the command of a program that speaks KataGo's analysis protocol, such as "alphago analysis 9x9".
        games: SGF files, files of records, folders of both, or datasets, with games on the board of `size` x `size`
            points.
        tell: called with the number of positions so far and the number wanted, first before any is labelled.

    Raises:
        ValueError: if the dataset was begun with other games, settings or another teacher, or if there are no games.
        EngineError: if the engine fails: what was labelled until then stays in the dataset.
    """
    labelling = labelling or LabelSettings()
    env = exam_env(size)
    records = read_games(games, env, MOST_POSITIONS_READ)
    with AnalysisClient(engine) as client:

        def take(drawn: DrawnPosition, _: str, reply: dict[str, Any]) -> None:  # _: the move, always "" here
            drawn.label = read_label(client, env, reply, drawn.position.to_play, labelling.readouts)

        readouts_text = "1 readout" if labelling.readouts == 1 else f"{labelling.readouts} readouts"
        teacher = {
            "name": f"{engine_text(client.describe())}, {readouts_text}",
            "rules": RULES,
            "readouts": labelling.readouts,
            "drawn": drawing_facts(records, labelling),
        }
        with DatasetWriter(dataset) as writer:
            last_number = writer.begin_labels(teacher)  # the last position that an earlier call labelled
            tell(writer.games, labelling.positions)  # each labelled position counts as a game of the dataset
            unlabelled = (drawn for drawn in draw(env, records, labelling) if drawn.number > last_number)
            forecasts = {"includePolicy": True, "includeOwnership": True}
            try:
                for drawn in client.judge(unlabelled, AT_ONCE, labelling.readouts, take, **forecasts):
                    if writer.games >= labelling.positions:
                        break
                    assert drawn.label is not None
                    moves, ply = records[drawn.game].moves, len(drawn.position.moves)
                    writer.add_label(env, moves, ply, komi=drawn.position.komi, label=drawn.label, drawn=drawn.number)
                    tell(writer.games, labelling.positions)
            finally:
                writer.flush()
            return writer.games


def own_engine(network: str | Path) -> str:
    """Return the command of this package's analysis engine with a network: its name, file or run folder."""
    return shlex.join(python_command("-m", "alphago", "analysis", str(network)))


def read_label(client: AnalysisClient, env: GoEnv, reply: dict[str, Any], mover: int, readouts: int) -> np.ndarray:
    """Return the label, of `label_dtype`, in a reply.

    Args:
        reply: in Black's view.
        mover: the player about to move, 1 Black or -1 White, in whose view the label is.

    Raises:
        EngineError: if something is missing.
    """
    label = np.zeros((), label_dtype(env.N))
    black_win, black_lead = client.root(reply)
    label["win"], label["lead"] = (black_win, black_lead) if mover > 0 else (1 - black_win, -black_lead)
    try:
        label["ownership"] = np.round(np.array(reply["ownership"]) * mover * OWNED)  # -OWNED .. OWNED
        if readouts == 1:
            policy = np.maximum(np.array(reply["policy"]), 0)  # illegal moves are -1 in the reply
        else:
            policy = np.zeros(env.action_space)
            for info in reply["moveInfos"]:
                policy[env.from_text(info["move"])] = info["visits"]
        if not policy.sum() > 0:
            raise ValueError("no move")
        label["policy"] = policy / policy.sum()
    except (KeyError, TypeError, ValueError) as error:
        raise client.abort(f"the reply has no policy or no ownership ({error!r}): {shown(reply)}") from None
    return label

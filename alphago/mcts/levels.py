"""Levels of play, from 1 for a beginner to 10 for full strength, and what each was measured to lose a move.

`levels.json`, which `benchmarks/levels.py` writes, has a table of the levels for each game, in Go for several boards.
For each level it has the loss a move at which the level aims, as the search itself estimates it
(`alphago.mcts.level_choice`).  It also has the loss that a strong player measured in the level's moves: with the
packaged network, and with other networks under their names.  The numbers of a level such as 3.5 are interpolated
between those of levels 3 and 4.
"""

import functools
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.packaged_nets import packaged_net
from alphago.system.validation import check_float, shown

FULL_STRENGTH = 10  # the greatest level
EVEN = "even"
FILE = Path(__file__).with_name("levels.json")
POINTS = "points"
NEAR_KOMI = 1.0  # points between two komi with which a level loses about the same
PACKAGED = "packaged"  # a name for the packaged network of any game, whose losses are in the rows themselves
LOST = ("lost", "low", "high", "positions")  # the numbers that a row has of another network, in a list under its name

Level = float | str  # 1 .. FULL_STRENGTH, or EVEN to follow the opponent's strength


class LevelTerms(NamedTuple):
    """How to play at a level.

    Attributes:
        target: what to lose a move, by the search's estimate.
        unit: the unit of losses: "points", for networks that forecast scores, or "win rate" (0 .. 1).
        readouts: simulations of a move.
    """

    target: float
    unit: str
    readouts: int


class LevelTable(NamedTuple):
    """The levels of a game.

    Attributes:
        unit: the unit of losses, "points" or "win rate" (0 .. 1).
        board: the size of the board on which the losses were measured.
        rows: for each level from 1 on a dictionary, which lacks what is unknown:
            - `target`: the loss a move at which the level aims;
            - `readouts`: the simulations of a move;
            - `lost`: the measured loss a move, `low` and `high` its 95 % interval, `positions` the number of positions
              on which it was measured;
            - `games`: [won, drawn, lost] against `opponent`.
            In `levels.json` these are the numbers of the packaged network.  There a row also has, under the name of
            another network, a list of that network's `lost`, `low`, `high` and `positions`.
    """

    unit: str
    board: int
    rows: list[dict[str, Any]]

    def interpolate(self, level: float, name: str) -> float:
        """Return a number of the rows, such as `target` or `lost`, interpolated at a level; NaN if no row has it."""
        known = {row_level: row[name] for row_level, row in enumerate(self.rows, 1) if name in row}
        return float(np.interp(level, list(known), list(known.values()))) if known else float("nan")


@functools.cache
def all_tables() -> dict[str, Any]:
    """Return the contents of `levels.json`."""
    return json.loads(FILE.read_text("utf-8"))


def measured_network(network: object, env: GameEnv) -> str:
    """Return the name in `levels.json` of the network, if the levels of the game were measured with it, else "".

    They were measured with one komi.  With a komi more than NEAR_KOMI away the same moves lose other amounts, and the
    result is "", too.
    """
    digest, komi = getattr(network, "digest", None), getattr(env, "komi", 0.0)
    name = next((name for name, known in all_tables()["networks"].items() if known == digest), "")
    # A row has the losses of further measured networks under their names; all rows of a game have the same names.
    is_of_game = name == packaged_net(env.name, env.N) or name in level_table(env).rows[0]
    # A network that has no komi in the table is of a game without komi: any one is near enough.
    is_near_komi = abs(komi - all_tables()["komi"].get(name, komi)) <= NEAR_KOMI
    return name if is_of_game and is_near_komi else ""


def level_table(env: GameEnv, has_scores: bool = True, measured: str = PACKAGED) -> LevelTable:
    """Return the levels of a game.

    They were measured on a board of its size, or on the next larger measured board, or else on the largest one.

    Args:
        has_scores: whether the network forecasts scores.  Without scores, levels in points are replaced by those of
            "any" game, in win rates.
        measured: the name of the network that the measured losses are of.
    """
    tables = all_tables()["games"]
    boards = tables.get(env.name, {})
    needs_scores = any(table["unit"] == POINTS for table in boards.values())
    if not boards or (needs_scores and not has_scores):
        boards = tables["any"]
    sizes = sorted(int(size) for size in boards)
    board = next((size for size in sizes if size >= env.N), sizes[-1])
    unit, rows = boards[str(board)]["unit"], boards[str(board)]["levels"]
    # A row has the losses of further networks under their names; all rows have the same names.
    if measured in rows[0]:  # these losses come in place of the packaged network's
        rows = [row_of_network(row, measured) for row in rows]
    return LevelTable(unit, board, rows)


def row_of_network(row: dict[str, Any], measured: str) -> dict[str, Any]:
    """Return a row of `levels.json` with the losses that were measured with a network, given under its name there."""
    return {"target": row["target"], "readouts": row["readouts"], **dict(zip(LOST, row[measured], strict=True))}


def expected_loss(level: float, env: GameEnv, has_scores: bool, measured: str) -> float:
    """Return what a level loses per move as it was measured, or what it aims to lose if it was not measured.

    Args:
        has_scores: as in `level_table`.
        measured: the name of the network, as `measured_network` returns it; "" for the aim.
    """
    table = level_table(env, has_scores, measured)
    lost = table.interpolate(level, "lost") if measured else float("nan")
    return table.interpolate(level, "target") if np.isnan(lost) else lost


def level_conditions(level: float, env: GameEnv, has_scores: bool = True) -> LevelTerms:
    """Return how to play a game at a level below full strength; has_scores: as in `level_table`."""
    table = level_table(env, has_scores)
    return LevelTerms(table.interpolate(level, "target"), table.unit, round(table.interpolate(level, "readouts")))


def check_level(level: Any) -> Level:
    """Return a level, given as a number, as a text such as "7.5", or as EVEN; raise ValueError for anything else."""
    if level == EVEN:
        return EVEN
    try:
        return check_float("level", float(level) if isinstance(level, str) else level, 1, FULL_STRENGTH)
    except (TypeError, ValueError):
        raise ValueError(f"level must be a number from 1 to {FULL_STRENGTH}, or {EVEN!r}, got {shown(level)}") from None


def level_text(level: Level) -> str:
    """Return a level in short, such as "7" or "even"."""
    return level if isinstance(level, str) else f"{level:g}"


def describe_level(level: Level, env: GameEnv, has_scores: bool = True, measured: str = PACKAGED) -> str:
    """Return what is known of a level, such as "level 7: loses 1.9 ± 0.2 points a move, wins 61 % against random".

    Args:
        has_scores: as in `level_table`.
        measured: the name of the network, as `measured_network` returns it.  If it is "", the text has no measured
            numbers, only the aim.
    """
    if isinstance(level, str):
        return "level even: follows your strength"
    table = level_table(env, has_scores, measured)
    parts = ["full strength"] if level == FULL_STRENGTH else []
    lost = table.interpolate(level, "lost") if measured else float("nan")
    scale, unit = (1, "points") if table.unit == POINTS else (100, "% of the win rate")
    if not np.isnan(lost):
        error = (table.interpolate(level, "high") - table.interpolate(level, "low")) / 2
        parts.append(f"loses {scale * lost:.1f} ± {scale * error:.1f} {unit} a move")
    elif level < FULL_STRENGTH:
        aim = scale * table.interpolate(level, "target")
        parts.append(f"aims to lose {aim:.1f} {unit} a move, as its own search sees it")
    row = table.rows[int(level) - 1] if measured and float(level).is_integer() else {}  # games are not interpolated
    if "games" in row:
        parts.append(games_text(row))
    has_own_tables = env.name in all_tables()["games"]  # a table for "any" game was measured on no board of this one
    if not measured:
        parts.append("not measured with this network" + (" and komi" if hasattr(env, "komi") else ""))
    elif parts and has_own_tables and table.board != env.N:
        parts.append(f"measured on {table.board}x{table.board}")
    return f"level {level_text(level)}" + (f": {', '.join(parts)}" if parts else "")


def games_text(row: dict[str, Any]) -> str:
    """Return how often the level of a row with games wins, such as "wins 61 % against random"."""
    won, drawn, _ = row["games"]
    win_rate = (won + drawn / 2) / sum(row["games"])
    rival = row["opponent"].replace("gnugo:", "GNU Go at level ")
    return f"wins {100 * win_rate:.0f} % against {rival}"

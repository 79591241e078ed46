"""Print games of self-play as text: one line per game, and optionally all moves and the final position."""

import sys
from collections.abc import Sequence

from tqdm.auto import tqdm

from alphago.env.game import PLAYER_NAMES, GameEnv
from alphago.records.record import POLICY_SCALE, GameRecord
from alphago.training.history import Row, number
from alphago.training.watch.report import Report

# Metrics of an iteration about workers, with their names in the report.
TASK_METRICS = {"tasks_done": "tasks done", "tasks_repeated": "of them again", "lag": "age of the network"}


class GameReport(Report):
    """A report that prints a line for each finished game of self-play (see `game_line`), and a line about workers.

    Args:
        moves: whether to print also a table of the moves (see `move_lines`) and the final position, as AlphaGOZero-TF
            does.
    """

    def __init__(self, moves: bool = False) -> None:
        self.moves = moves  # whether to print them

    def games(self, env: GameEnv, records: Sequence[GameRecord]) -> None:
        """Print finished games of self-play."""
        for record in records:
            tqdm.write(game_text(env, record, self.moves), file=sys.stderr)

    def iteration(self, metrics: Row) -> None:
        """Print the iteration's facts about workers, if there are any."""
        if facts := "; ".join(f"{name} {value}" for name, value in worker_facts(metrics).items()):
            tqdm.write(f"workers: {facts}", file=sys.stderr)


def game_text(env: GameEnv, record: GameRecord, moves: bool = False) -> str:
    """Return a game as text: one line, see `game_line`.

    Args:
        moves: whether to add the table of `move_lines` and the final position.
    """
    line = game_line(env, record)
    return f"{line}\n{move_lines(env, record)}\n{record.position(env)}\n" if moves else line


def game_line(env: GameEnv, record: GameRecord) -> str:
    """Return a line that describes a game.

    It has the game's number, board, result, length, time, and opening (the first moves, which were not searched).  It
    also has the mean probability of the search's greedy (most probable) moves, and the share of these that were played.
    """
    height, width = env.plane_shape
    game = "a game" if record.seed is None else f"game {record.seed[1]}"  # the seed's second part is its number
    length = f"{len(record)} moves" + ("" if record.seconds is None else f" in {record.seconds:.1f} s")
    parts = [f"{game} on {height}x{width}: {record.result_string} after {length}"]
    searched = record.policies.any(axis=1)  # a move without search has a policy of zeros
    # The moves before the first searched one.
    opening = record.moves[: searched.argmax()] if searched.any() else record.moves
    if len(opening):
        parts.append(f"opening {' '.join(env.to_text(int(action)) for action in opening)}")
    if searched.any():
        policies = record.policies[searched]  # in units of 1 / POLICY_SCALE
        played = float((policies.argmax(axis=1) == record.moves[searched]).mean())
        probability = float(policies.max(axis=1).mean()) / POLICY_SCALE
        parts.append(f"greedy moves of {probability:.0%} on average, {played:.0%} of them played")
    return "; ".join(parts)


def move_lines(env: GameEnv, record: GameRecord) -> str:
    """Return a table, as text, with one line for each move of a game.

    A line has the move, the search's greedy (most probable) move, that move's probability ("-" instead of both for a
    move without search), and the mover's win rate.
    """
    rows = [f"{'':6}{'move':10}{'greedy':16}win rate"]
    columns = zip(record.movers.tolist(), record.moves.tolist(), record.policies, record.values.tolist(), strict=True)
    for ply, (mover, action, policy, value) in enumerate(columns, 1):
        best = int(policy.argmax())
        greedy = f"{env.to_text(best)} {policy[best] / POLICY_SCALE:.1%}" if policy.any() else "-"
        move = f"{PLAYER_NAMES[mover][0]} {env.to_text(action)}"
        rows.append(f"{ply:4}  {move:10}{greedy:16}{(1 + value) / 2:8.1%}")
    return "\n".join(rows)


def worker_facts(row: Row) -> dict[str, str]:
    """Return facts about an iteration's workers by name, first each worker's speed; {} if there were no workers."""
    speeds = row.get("workers_moves_per_second")
    if not isinstance(speeds, dict):
        return {}
    length = number(row, "game_length")
    facts = {}
    for name, speed in speeds.items():
        games = f", {speed / length:.2g} games/s" if length else ""
        facts[name] = f"{speed:.1f} moves/s{games}"
    for key, text in TASK_METRICS.items():
        if (value := number(row, key)) is not None:
            facts[text] = f"{value:,.4g}"
    if (sent := number(row, "tasks_bytes")) is not None:
        facts["sent and received"] = f"{sent / 1e6:,.2f} MB"
    return facts

"""Facts about a run's workers in its latest iteration, for `alphago info` and `alphago train --verbose`."""

from alphago.training.history import Row, number

# Metrics of a whole stage, with their names in the report.
TASKS = {
    "tasks_done": "tasks done",
    "tasks_repeated": "of them again",
    "lag": "age of the network",
}


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
    for key, text in TASKS.items():
        if (value := number(row, key)) is not None:
            facts[text] = f"{value:,.4g}"
    if (sent := number(row, "tasks_bytes")) is not None:
        facts["sent and received"] = f"{sent / 1e6:,.2f} MB"
    return facts

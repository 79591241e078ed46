"""What a run reports at its beginning: a new one's game and network, or an old one's standing and changed settings."""

from typing import Any

from alphago.system.settings import addresses, value_to_data
from alphago.training.call.start import Start, value_for_message
from alphago.training.history import unreadable_lines
from alphago.training.run import Run
from alphago.training.runs.folder import LOGS


def news_of_beginning(run: Run, start: Start) -> list[str]:
    """Return sentences about a new run."""
    height, width = run.goal.plane_shape
    return [
        f"a new run of {run.goal} begins in {run.folder.path}",
        f"its network is {start.model}, from {run.goal.planes} planes of {height}x{width}",
        *start.notes,
    ]


def news_of_going_on(run: Run, start: Start) -> list[str]:
    """Return sentences about a run that continues, and log its changed settings in config.json."""
    folder = run.folder
    where = f"after {run.games} games and {run.clock.seconds / 60:.1f} minutes of training"
    news = list(filter(None, (unreadable_lines(folder.path / name) for name in LOGS)))
    news += [
        f"{name} is {value_for_message(now)!r} from now on, not {value_for_message(was)!r}"
        for name, (was, now) in start.changes.items()
    ]
    if start.changes:
        changes = [*start.config["changes"], *log_changes(start, run.games)]
        folder.write_config(start.config | {"changes": changes})
    if run.is_proved:
        news.append(f"this run ended {where}, with its proof; a stronger opponent (until), or none, prolongs it")
    elif run.is_over:
        news.append(f"this run ended {where}; more games or minutes prolong it")
    else:
        news.append(f"this run goes on {where}")
    return news


def log_changes(start: Start, games: int) -> list[dict[str, Any]]:
    """Return entries for the list "changes" in config.json, one for each changed setting.

    games: number of games of the run so far.
    """
    known = addresses(type(start.settings))
    entries = []
    for name, values in start.changes.items():
        was, now = (value_to_data(value, known[name].part if name in known else None) for value in values)
        entries.append({"games": games, "setting": name, "was": was, "now": now})
    return entries

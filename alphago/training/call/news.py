"""What a run reports at its beginning: a new one's game and network, or an old one's standing and changed settings."""

from typing import Any

from alphago.env.games import selfplay_game
from alphago.system.settings import addresses, value_to_data
from alphago.training.call.start import Start, value_for_message
from alphago.training.run import Run
from alphago.training.settings.learning_settings import Window


def news_of_beginning(run: Run, start: Start) -> list[str]:
    """Return sentences about a new run."""
    height, width = run.goal.plane_shape
    return [
        f"a new run of {run.goal} begins in {run.folder.path}",
        f"its network is {start.model}, from {run.goal.planes} planes of {height}x{width}",
        *too_few_games(run, start),
    ]


def too_few_games(run: Run, start: Start) -> list[str]:
    """Return a sentence about a new run whose games have too few positions for a gradient step, or none."""
    settings = start.settings
    if settings.num_games is None or not isinstance(settings.memory, Window):
        return []
    length, least = selfplay_game(run.goal).usual_length, settings.start_training_after
    if settings.num_games * length >= least:
        return []
    return [
        f"{settings.num_games} games have about {settings.num_games * length:,.0f} positions, and the first gradient "
        f"step waits for {least:,}: lower start_training_after, or play {least / length:,.0f} games or more"
    ]


def news_of_going_on(run: Run, start: Start) -> list[str]:
    """Return sentences about a run that continues, and log its changed settings in config.json."""
    folder = run.folder
    where = f"after {run.games} games and {run.clock.seconds / 60:.1f} minutes of training"
    news = [
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

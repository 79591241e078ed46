"""Summarize a run from its folder: game and network, progress, results, and the command that continues it."""

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from alphago.exams.positions import exam_env, packaged_exams
from alphago.nn.model_files import LATEST, ModelError, read_description, read_weights
from alphago.nn.net import load_model
from alphago.system.files import typed_path
from alphago.training.history import EVALUATIONS, METRICS, Row, limits, number, opponent_name, read_rows
from alphago.training.recipes import RECIPES
from alphago.training.runs.config import flat_settings, game_flag, game_from_config, how_to_continue, read_config
from alphago.training.watch.diagnosis import diagnose

MOST_SLACK = 0.5 / 60  # minutes that may lie between a run's last row and its end
PROVED_STRONGER = "proved to be stronger"  # words in the reason why a run is over, if a proof has ended the run
LOSSES = ("policy_loss", "value_loss", "ownership_loss", "score_loss")


def run_summary(folder: Path) -> dict[str, Any]:
    """Return facts about the run in a folder, as texts and numbers by name.

    The run may be in progress, of another version, or without any games yet.

    Raises:
        ValueError: if its config is damaged.
    """
    config = read_config(folder)
    settings = flat_settings(config)
    rows = read_rows(folder / METRICS, required_key="seconds")
    newest = rows[-1] if rows else {}  # a run may have no row yet
    matches = read_rows(folder / EVALUATIONS, required_key="opponent")
    network = folder / LATEST
    notes = read_description(network)["extra"] if network.exists() else {}
    # The latest network may have been saved after the newest row was written.
    last = {**newest, "seconds": max(float(notes.get("seconds", 0)), number(newest, "seconds") or 0)}
    over = "" if "due" in notes else why_over(settings, last, matches)
    faults = {f"diagnosis, {fault.what}": f"{fault.evidence}; {fault.remedy}" for fault in diagnose(rows, settings)}
    return {
        "game": game_text(config),
        **(network_facts(network) if network.exists() else {}),
        **({"learns from": config["given"]["dataset"] or "given games"} if "given" in config else {}),
        **({"recipe": config["recipe"] or "none"} if "recipe" in config else {}),
        "games": of_total(number(last, "games") or 0, settings.get("num_games")),
        **minutes_spent(settings, last),
        "positions": int(number(last, "positions") or 0),
        "gradient steps": int(number(last, "steps") or 0),
        **({"readouts": settings["readouts"]} if "readouts" in settings else {}),
        "opponent (until)": (settings.get("until") or {"name": "none"})["name"],
        "over": over or "no",
        "to go on": how_to_continue(folder, option_to_go_on(over, settings, number(last, "games") or 0)),
        **latest_losses(rows),
        **match_facts(matches),
        **faults,
    }


def next_steps(folder: Path, config: Mapping[str, Any]) -> dict[str, str]:
    """Return what to do with a run next, as texts by name: how far to train it, and commands to test and to play it.

    If the recipe has `beats_gnugo_after`, the number of positions after which a network trained by it beat GNU Go, one
    text compares the run's positions with that.

    Args:
        config: the config of the run in `folder`.
    """
    rows = read_rows(folder / METRICS, required_key="seconds")
    name = str(config.get("recipe", ""))
    needed = RECIPES[name].beats_gnugo_after if name in RECIPES else 0
    steps = {}
    if needed:
        positions = int(number(rows[-1], "positions") or 0) if rows else 0
        told = f"{positions:,} of some {needed:,} positions after which its run beat GNU Go"
        steps[f"recipe {name}"] = told + ("" if positions >= needed else ": train on")
    if name == "few games":
        steps["stronger"] = "a run by the clock, as train --minutes 30, plays thousands of games"
    games_with_exams = [(env.name, env.N) for env in map(exam_env, packaged_exams())]
    has_exam = (config["game"], config["env"].get("board_size")) in games_with_exams
    path = typed_path(folder)
    game = game_flag(config["game"], folder)
    # The exam grades the run's network twice: without search, and with 64 readouts.
    grade = f"alphago exam {path}" if has_exam else f"alphago evaluate {path} random"
    return {**steps, "how good it is": grade + game, "play it": f"alphago web {path}{game}"}


def game_text(config: Mapping[str, Any]) -> str:
    """Return the game in a run's config as text; for a custom game that is not loaded, its name and options."""
    with contextlib.suppress(LookupError, ValueError, TypeError):
        return str(game_from_config(config))
    return f"{config['game']} {config['env']}"


def network_facts(path: Path) -> dict[str, str]:
    """Return facts about the network in a file, by name: game, parts, input, teacher and training games."""
    try:
        net = load_model(path)
        height, width = net.env.plane_shape
        facts = {"network": str(net), "input": f"{net.env.planes} planes of {height}x{width}"}
        notes: Mapping[str, str] = net.notes
    except ModelError:  # the file has a custom game or custom parts; if it is damaged, the next line raises
        _, description = read_weights(path)
        facts = {"network": f"for {description['env']}, {parts_text(description['net'])}"}
        notes = description["extra"]
    from_notes = {"taught by": "taught_by", "games that trained it": "games"}
    return facts | {name: notes[key] for name, key in from_notes.items() if key in notes}


def parts_text(net: Mapping[str, Any]) -> str:
    """Return the parts and sizes in a network's description as text."""
    parts = [f"{slot}={part['part']}" for slot, part in net["parts"].items()]
    custom = [f"{slot}={kind}" for slot, kind in net["custom"].items()]
    sizes = [f"{name}={net[name]}" for name in ("tower_height", "channels") if net[name] is not None]
    return ", ".join([*sizes, *parts, *custom])


def of_total(amount: float, total: float | None, decimals: int = 0) -> str:
    """Return an amount with its limit as text, such as "412 of 1,000"; the amount alone if `total` is None."""
    text = f"{amount:,.{decimals}f}"
    return text if total is None else f"{text} of {total:,.10g}"


def minutes_spent(settings: Mapping[str, Any], last: Row) -> dict[str, str]:
    """Return the minutes of training with their limit, as text by name; if limited, also those of processor time.

    Args:
        last: the newest row of metrics.jsonl.
    """
    minutes = of_total((number(last, "seconds") or 0) / 60, settings.get("max_minutes"), decimals=1)
    spent_and_limit = limits(settings, last).get("max_processor_minutes")
    of_processor = {} if not spent_and_limit else {"minutes of the processor": of_total(*spent_and_limit, decimals=1)}
    return {"minutes of training": minutes, **of_processor}


def why_over(settings: Mapping[str, Any], last: Row, matches: Sequence[Row]) -> str:
    """Return the reason why a run is over; "" if it is not.

    Args:
        last: the newest row of metrics.jsonl, with the run's games and times so far.
        matches: the rows of evaluations.jsonl.
    """
    for setting, (spent, limit) in limits(settings, last).items():
        # The row is older than the run's end, so its times may be a little below the limit: by MOST_SLACK minutes, or
        # by 2 % of a short limit.
        slack = 0 if setting == "num_games" else min(0.02 * limit, MOST_SLACK)
        if spent >= limit - slack:
            return "yes, all games are played" if setting == "num_games" else "yes, its time is over"
    until = settings.get("until")  # None if the run goes on after its proof
    tests = [row for row in matches if "sprt" in row]
    if until and tests and tests[-1]["sprt"] == "accept":
        # `option_to_go_on` finds the words PROVED_STRONGER in this text.
        return f"yes, {PROVED_STRONGER} than {tests[-1]['opponent']}"
    return ""


def option_to_go_on(over: str, settings: Mapping[str, Any], games: float) -> str:
    """Return the option of `alphago train` with which a run goes on; "" if the run is not over.

    A run that has ended with its proof goes on without the opponent `until`, other runs with more games or time.

    Args:
        over: the result of `why_over`.
        settings, games: as in `prolonging_option`.
    """
    if not over:
        return ""
    return "--until none" if PROVED_STRONGER in over else prolonging_option(settings, games)


def prolonging_option(settings: Mapping[str, Any], games: float) -> str:
    """Return the option of `alphago train` that doubles the limit (of games or of time) that a run has reached.

    Args:
        settings: the run's settings by name, see `flat_settings`.
        games: the run's number of games.  If it has reached `num_games`, or if time has no limit, the option doubles
            `num_games`, otherwise the time.
    """
    has_all_games = settings["num_games"] is not None and games >= settings["num_games"]
    for setting, flag in (("max_minutes", "--minutes"), ("max_processor_minutes", "--processor-minutes")):
        if settings.get(setting) is not None and not has_all_games:
            return f"{flag} {2 * settings[setting]:g}"
    return f"--games {2 * settings['num_games']}"


def latest_losses(rows: Sequence[Row]) -> dict[str, str]:
    """Return the losses of the latest iteration that took gradient steps, as texts by name."""
    newest = next((row for row in reversed(rows) if number(row, "policy_loss") is not None), {})
    return {name.replace("_", " "): f"{loss:.3f}" for name in LOSSES if (loss := number(newest, name)) is not None}


def match_facts(matches: Sequence[Row]) -> dict[str, str]:
    """Return facts about matches, as texts by name.

    These are the latest result against each opponent, and how many candidates each judge accepted.

    Args:
        matches: rows of evaluations.jsonl.
    """
    facts = {}
    for row in matches:
        rate, low, high, played = (number(row, name) for name in ("win_rate", "low", "high", "played"))
        if None not in (rate, low, high, played):
            after = f"after {number(row, 'games') or 0:,.0f} games"
            share = f"{rate:.1%} of {played:.0f} games ({low:.1%} to {high:.1%}), {after}"
            facts[f"against {opponent_name(row)}"] = share  # replaces an older result
    decisions = [row for row in matches if "accepted" in row]
    for judge in dict.fromkeys(row.get("judge") for row in decisions):
        accepted = [row["accepted"] for row in decisions if row.get("judge") == judge]  # a bool for each candidate
        facts[f"candidates of the {judge}"] = f"{sum(accepted)} of {len(accepted)} accepted"
    return facts

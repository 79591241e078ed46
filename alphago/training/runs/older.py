"""What earlier versions of the package wrote into a run's folder, in the form of today."""

from typing import Any

MOVED = {"alphago.training.group:SelfPlay": "alphago.training.selfplay:SelfPlay"}  # classes of sources


def newer_config(config: dict[str, Any]) -> dict[str, Any]:
    """Return a config without a version, from before configs had one, in the form of version 2.

    Raises KeyError or ValueError for a run that this version cannot continue.
    """
    settings = dict(config["settings"])
    if settings.pop("sizes", ()):
        raise ValueError("plays several boards at the same time, which runs no longer do")
    settings["memory"] = named("pool", settings.pop("pool"))
    champions = settings.pop("champions")
    settings["judges"] = [named("champions", champions)] if champions else []
    settings["gate"] = named("gate", settings["gate"])
    random = {name: settings.pop(name) for name in ("random_move_share", "random_move_plies")}
    settings["seating"] = named("cgzero-games", random) if random["random_move_share"] else None
    shares = ("result_share", "result_growth", "visits_until", "played_from")
    targets = {"mixed": settings.pop("value_targets"), **{name: settings.pop(name) for name in shares}}
    usual = targets["mixed"] == "lambda" and targets["visits_until"] == 1
    targets["search_share"] = settings["search_share"]
    settings["targets"] = None if usual else named("mixed-targets", targets)
    return {**config, "version": 2, "settings": settings}


def named(part: str, settings: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the settings of a part with its name; None for None."""
    return None if settings is None else {"part": part, **settings}


def newer_state(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a state of format 4 in the form of format 5."""
    (board,) = data["boards"]
    memory = {**board["memory"], "has_learned": board["has_learned"]}
    source = MOVED.get(board["source_class"], board["source_class"])
    stage = {"memory": memory, "source": board["source"], "source_class": source, "adaptive": board["adaptive"]}
    kept = {name: value for name, value in data.items() if name != "boards"}
    return {**kept, "lesson": data["stage"], "stage": stage, "batches_taken": memory.get("taken", 0)}

"""Convert what earlier versions of the package wrote into a run's folder to the present form."""

from typing import Any

from alphago.mcts.search import leaves_for

COUNTS = ("games", "positions", "iterations", "in_iteration", "readouts", "samples_due", "saved_games", "compacted")
# A supervised run of version 1 had the settings of self-play, too.  These settings always had these values there.
SUPERVISED = {"samples_per_position": 1.0, "start_training_after": 0, "exact_rules": True}
SUPERVISED |= dict.fromkeys(("search_share", "surprise_share", "opening_plies"), 0.0)
GIVEN = "alphago.training.supervised.source:GivenSource"  # the source of a supervised run
MOVED = {"alphago.training.group:SelfPlay": "alphago.training.selfplay:SelfPlay"}  # classes of sources

# Version 1 had all settings in one dictionary.  These settings are in a part now, by part.
PARTS = {
    "selfplay": "readouts games_in_flight groups temperature_plies resign_threshold no_resign_share opening_plies",
    "learning": "batch_size learning_rate dense_rate weight_decay optimizer schedule gradient_norm bfloat16 losses",
    "memory": "memory_size samples_per_position surprise_share",
    "targets": "value_targets search_share result_share result_growth visits_until played_from",
    "games": "random_move_share random_move_plies",
    "watch": "watch watch_share",
    "chosen": "sizes search gate champions pool",
}
# The settings of the present searches; version 1 had all of them in one class.
GUMBEL = ("considered", "c_visit", "c_scale")
PUCT = ("c_puct", "parent_value_weight", "first_play_reduction", "virtual_loss")
NOISE = ("dirichlet_weight", "dirichlet_alpha")
CGZERO = {"c_puct_growth": 0.0, "c_puct_limit": None, "value_noise": 0.0, "near_best": None}  # with defaults
ALL_SEARCHES = ("leaves", "decisive_moves")
OPTIMIZERS = ("muon", "adamw", "sgd")


def newer_config(config: dict[str, Any]) -> dict[str, Any]:
    """Return a config of version 1, which has no version, in the form of version 2.

    Raises KeyError or ValueError for a run that this version cannot continue.
    """
    flat = config["settings"]
    if all(flat.get(name) == value for name, value in SUPERVISED.items()):
        kept = {name: value for name, value in config.items() if name != "recipe"}
        return {**kept, "version": 2, "given": {"dataset": None}, "settings": supervised_settings(flat)}
    return {**config, "version": 2, "settings": newer_settings(flat)}


def supervised_settings(flat: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a supervised run of version 1 in parts."""
    run = {name: flat[name] for name in ("num_games", "max_minutes", "seed", "ckp_freq")}
    return {**run, "threads": flat["groups"], "learning": newer_learning(flat), "watch": newer_watch(flat)}


def newer_learning(flat: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of learning; flat: all settings of version 1."""
    learning = {name: flat[name] for name in PARTS["learning"].split()}
    if learning["optimizer"] not in OPTIMIZERS:
        learning["optimizer"] = {"function": learning["optimizer"]}  # a user's own, by its name
    return learning


def newer_watch(flat: dict[str, Any]) -> dict[str, Any] | None:
    """Return what is watched in a run of version 1, and the time for it; None for nothing."""
    if not flat["watch"]:
        return None
    return {"opponents": flat["watch"], "share": flat["watch_share"]}


def newer_settings(flat: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of version 1, all of them in one dictionary, in parts."""
    parts = {part: {name: flat[name] for name in names.split()} for part, names in PARTS.items()}
    in_parts = {name for values in parts.values() for name in values}
    run = {name: value for name, value in flat.items() if name not in in_parts}
    selfplay, chosen = parts["selfplay"], parts["chosen"]
    if chosen["sizes"]:
        raise ValueError("plays several boards at the same time, which runs no longer do")
    selfplay["search"] = newer_search(chosen["search"], selfplay)
    if selfplay["search"]["kind"] == "gumbel":
        selfplay["temperature_plies"] = None  # Gumbel search always ignored them
    has_random_moves = parts["games"]["random_move_share"] > 0
    selfplay["seating"] = {"kind": "cgzero-games", **parts["games"]} if has_random_moves else None
    memory = {"kind": "window", **parts["memory"]} if chosen["pool"] is None else {"kind": "pool", **chosen["pool"]}
    judges = [{"kind": name, **chosen[name]} for name in ("gate", "champions") if chosen[name] is not None]
    return {
        **run,
        "selfplay": selfplay,
        "learning": newer_learning(flat),
        "memory": memory,
        "targets": newer_targets(parts["targets"]),
        "judges": judges,
        "watch": newer_watch(flat),
    }


def newer_targets(flat: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of value and policy targets of version 1 as those of one of the present targets."""
    if flat["value_targets"] == "lambda" and flat["visits_until"] == 1:
        return {"kind": "lambda-returns", "search_share": flat["search_share"]}
    if flat["value_targets"] != "legal-moves":
        raise ValueError(f"has value targets by {flat['value_targets']}, which mixed targets no longer have")
    shares = ("result_share", "result_growth", "visits_until", "played_from")
    return {"kind": "mixed-targets", **{name: flat[name] for name in shares}}


def newer_search(search: dict[str, Any] | None, selfplay: dict[str, Any]) -> dict[str, Any]:
    """Return the search of version 1 as one of the present searches, with all its settings.

    search: None, or settings; missing settings had values that suit the run.
    selfplay: the run's settings of self-play.
    """
    if search is not None and "class" in search:
        return {"kind": search["class"], **{name: value for name, value in search.items() if name != "class"}}
    readouts = selfplay["readouts"]
    usual = {  # what version 1 took where these settings were missing
        "gumbel": True,
        "considered": max(2, min(16, readouts // 2)),
        "leaves": leaves_for(selfplay["games_in_flight"], readouts),
    }
    values = {**usual, **(search or {})}
    if not values.get("c_puct_growth"):
        values.pop("c_puct_limit", None)  # without growth of c_puct, the limit had no effect
    if values.get("dirichlet_decay") and not values["gumbel"]:
        raise ValueError("has Dirichlet noise that decreases with the ply, which searches no longer have")
    if values["gumbel"] and values.get("value_noise"):
        raise ValueError("has noise on the values of a Gumbel search, which that search no longer has")
    if values["gumbel"]:
        kind, names = "gumbel", [*ALL_SEARCHES, *GUMBEL]
    elif any(values.get(name, default) != default for name, default in CGZERO.items()):
        kind, names = "cgzero-puct", [*ALL_SEARCHES, *PUCT, *NOISE, *CGZERO]
    else:
        kind, names = "puct", [*ALL_SEARCHES, *PUCT, *NOISE]
    return {"kind": kind, **{name: values[name] for name in names if name in values}}


def newer_state(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a state of format 4 in the form of format 5.

    In format 4, `stage` says how the stage was entered, as `entered` does in format 5, where `stage` is its state.
    """
    (board,) = data["boards"]  # a run of several boards was refused when its config was read
    if board["source_class"] == GIVEN:
        return supervised_state(data, board)
    memory = {**board["memory"], "has_learned": board["has_learned"]}
    source = MOVED.get(board["source_class"], board["source_class"])
    stage = {"memory": memory, "source": board["source"], "source_class": source, "adaptive": board["adaptive"]}
    batches_taken = memory.get("taken", 0)  # which not every memory counted
    counts = {name: data[name] for name in COUNTS} | {"batches_taken": batches_taken}
    kept = {name: value for name, value in data.items() if name not in (*COUNTS, "boards", "stage")}
    return {**kept, "entered": data["stage"], "counts": counts, "stage": stage}


def supervised_state(data: dict[str, Any], board: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a supervised run's state of format 4 in the form of format 5; board: its only board."""
    counts = {name: data[name] for name in COUNTS} | {"positions": board["memory"]["added"], "batches_taken": 0}
    if board["source"]["waiting"]:
        counts["in_iteration"] = False  # the iteration's games were not taken yet
    kept = {name: value for name, value in data.items() if name not in (*COUNTS, "boards", "stage")}
    return {**kept, "counts": counts, "digest": board["source"]["digest"]}

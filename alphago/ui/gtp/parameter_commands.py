"""Parameters that a controller may read and set, under KataGo's names (`kata-get-param`, `kata-set-param`)."""

import json
from collections.abc import Callable
from typing import Any

from alphago.mcts.levels import check_level
from alphago.system.validation import LARGEST, MOST_READOUTS, check_choice, check_float, check_int, check_positive
from alphago.ui.gtp.gtp_engine import GtpEngine
from alphago.ui.gtp.protocol import GtpFailure, argument, as_failure, boolean, integer, number
from alphago.ui.katago import SIDES


def get_parameter(engine: GtpEngine, arguments: list[str]) -> str:
    """Return a value as KataGo writes it: "true" or "false", and numbers without needless zeros."""
    value = read_parameter(engine, argument(arguments, 0))
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def set_parameter(engine: GtpEngine, arguments: list[str]) -> None:
    """Set a parameter to the value that follows its name."""
    name, text = argument(arguments, 0), argument(arguments, 1)
    read_parameter(engine, name)  # fails for an unknown name
    with as_failure():
        if name in UNSUPPORTED:
            if number(text) != 0:
                raise GtpFailure(f"{name} must be 0: this engine does not support it")
            return
        attribute, read = PARAMETERS[name]
        setattr(engine.parameters, attribute, read(text))
    # Analysts keep the c_puct they were made with.  An engine that plays randomly has none.
    if attribute == "c_puct" and not engine.plays_randomly:
        engine.open_search()


def read_parameter(engine: GtpEngine, name: str) -> Any:
    """Return the value of a parameter; raise GtpFailure for an unknown one."""
    if name not in NAMES:
        raise GtpFailure(f"unknown parameter {name}; known ones are {', '.join(NAMES)}")
    if name in UNSUPPORTED:
        return 0.0  # the only value of an unsupported parameter, see `set_parameter`
    attribute, _ = PARAMETERS[name]
    value = getattr(engine.parameters, attribute)
    # Only the threshold for resigning may be None.  The network's own one is used then; -1, for never, if it has none.
    return float(getattr(engine.network, "resign_threshold", -1.0)) if value is None else value


# By name: the attribute of `Parameters`, and a function that returns the value of a text, or raises GtpFailure or
# ValueError.
PARAMETERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "maxVisits": ("readouts", lambda text: check_int("maxVisits", integer(text), 0, MOST_READOUTS)),
    "maxTime": ("max_time", lambda text: check_positive("maxTime", number(text))),
    "level": ("level", check_level),
    "ponderingEnabled": ("ponder", boolean),
    "allowResignation": ("allow_resignation", boolean),
    "resignThreshold": ("resign_threshold", lambda text: check_float("resignThreshold", number(text), -1, 1)),
    "reportAnalysisWinratesAs": ("side", lambda text: check_choice("reportAnalysisWinratesAs", text.upper(), SIDES)),
    "cpuctExploration": ("c_puct", lambda text: check_float("cpuctExploration", number(text), 0, LARGEST)),
}
UNSUPPORTED = ("analysisWideRootNoise", "playoutDoublingAdvantage")  # only 0 is accepted, to which programs set them
NAMES = (*PARAMETERS, *UNSUPPORTED)
COMMANDS = {
    "kata-get-param": get_parameter,
    "kata-set-param": set_parameter,
    "kata-list-params": lambda engine, arguments: " ".join(NAMES),
    "kata-get-params": lambda engine, arguments: json.dumps({name: read_parameter(engine, name) for name in NAMES}),
}

"""Parameters that a controller may read and set, under KataGo's names (`kata-get-param`, `kata-set-param`)."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from alphago.mcts.levels import check_level
from alphago.mcts.puct import Puct
from alphago.system.validation import MOST_READOUTS, check_float, check_int
from alphago.ui.gtp.gtp_engine import GtpEngine
from alphago.ui.gtp.protocol import Command, GtpFailure, argument, integer, number, replying
from alphago.ui.katago import SIDES

NO_LIMIT = 1e20  # seconds: stands for an infinite time, which JSON cannot express


class Parameter(NamedTuple):
    """How to read and set a parameter; `set` raises GtpFailure or ValueError for an invalid value."""

    get: Callable[[GtpEngine], Any]
    set: Callable[[GtpEngine, str], None]


class ParameterCommands:
    """The commands that read and set parameters of an engine."""

    def __init__(self, engine: GtpEngine) -> None:
        self.engine = engine
        self.commands: dict[str, Command] = {
            "kata-get-param": self.get,
            "kata-set-param": self.set,
            "kata-list-params": lambda arguments: " ".join(PARAMETERS),
            "kata-get-params": self.get_all,
        }

    def get(self, arguments: list[str]) -> str:
        return text_of(find_parameter(argument(arguments, 0)).get(self.engine))

    def set(self, arguments: list[str]) -> str:
        with replying():
            find_parameter(argument(arguments, 0)).set(self.engine, argument(arguments, 1))
        return ""

    def get_all(self, arguments: list[str]) -> str:
        return json.dumps({name: parameter.get(self.engine) for name, parameter in PARAMETERS.items()})


def find_parameter(name: str) -> Parameter:
    """Return the parameter with a name; raise GtpFailure for an unknown one."""
    if name not in PARAMETERS:
        raise GtpFailure(f"unknown parameter {name}; known ones are {', '.join(PARAMETERS)}")
    return PARAMETERS[name]


def text_of(value: object) -> str:
    """Return a parameter's value as KataGo writes it: "true" or "false", and numbers without needless zeros."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def set_readouts(engine: GtpEngine, text: str) -> None:
    engine.parameters.readouts = check_int("maxVisits", integer(text), 0, MOST_READOUTS)


def set_time(engine: GtpEngine, text: str) -> None:
    value = number(text)
    if value <= 0:
        raise GtpFailure(f"maxTime must be a number > 0, got {text}")
    engine.parameters.max_time = value


def set_threshold(engine: GtpEngine, text: str) -> None:
    engine.parameters.resign_threshold = check_float("resignThreshold", number(text), -1, 1)


def set_side(engine: GtpEngine, text: str) -> None:
    if text.upper() not in SIDES:
        raise GtpFailure(f"reportAnalysisWinratesAs must be one of {', '.join(SIDES)}, got {text}")
    engine.parameters.side = text.upper()


def set_level(engine: GtpEngine, text: str) -> None:
    engine.parameters.level = check_level(text)


def set_c_puct(engine: GtpEngine, text: str) -> None:
    engine.parameters.c_puct = check_float("cpuctExploration", number(text), 0)
    if not engine.at_random:
        engine.open_search()


def switch(name: str) -> Parameter:
    """Return a boolean parameter, whose value is the attribute `name` of `Parameters`."""

    def set_switch(engine: GtpEngine, text: str) -> None:
        if text.lower() not in ("true", "false"):
            raise GtpFailure(f"the value must be true or false, got {text}")
        setattr(engine.parameters, name, text.lower() == "true")

    return Parameter(lambda engine: getattr(engine.parameters, name), set_switch)


def always_zero(name: str) -> Parameter:
    """Return a parameter of KataGo that this engine lacks: its value is 0, and setting another value fails."""

    def set_to_zero(engine: GtpEngine, text: str) -> None:
        if number(text) != 0:
            raise GtpFailure(f"{name} must be 0: this engine does not support it")

    return Parameter(lambda engine: 0.0, set_to_zero)


def shown_threshold(engine: GtpEngine) -> float:
    """Return the value below which the engine resigns: its parameter, or if that is None, its network's threshold."""
    threshold = engine.parameters.resign_threshold
    if threshold is None:
        threshold = getattr(engine.network, "resign_threshold", -1.0)
    return float(threshold)


PARAMETERS = {
    "maxVisits": Parameter(lambda engine: engine.parameters.readouts, set_readouts),
    "maxTime": Parameter(lambda engine: min(engine.parameters.max_time, NO_LIMIT), set_time),
    "level": Parameter(lambda engine: engine.parameters.level, set_level),
    "ponderingEnabled": switch("ponder"),
    "allowResignation": switch("allow_resignation"),
    "resignThreshold": Parameter(shown_threshold, set_threshold),
    "reportAnalysisWinratesAs": Parameter(lambda engine: engine.parameters.side, set_side),
    "cpuctExploration": Parameter(
        lambda engine: Puct().c_puct if engine.parameters.c_puct is None else engine.parameters.c_puct,
        set_c_puct,
    ),
    "analysisWideRootNoise": always_zero("analysisWideRootNoise"),
    "playoutDoublingAdvantage": always_zero("playoutDoublingAdvantage"),
}

"""The names of a run's parts.  They complete the keywords, the flags and the saved form of a run's settings."""

from collections.abc import Mapping
from typing import Any

from alphago.mcts.search_forms import SEARCHES
from alphago.nn.loss import LOSSES
from alphago.system.settings_tree import SettingsTree
from alphago.training.judges.gate import Gate
from alphago.training.settings.run_settings import RunSettings
from alphago.training.targets import LambdaReturns
from alphago.training.window import Window

# For each setting that is a part: the classes by name.  Parts of other classes, and functions, are saved as
# "module:name".
PARTS: dict[str, Mapping[str, Any]] = {
    "search": SEARCHES,
    "losses": LOSSES,
    "memory": {"window": Window},
    "targets": {"lambda-returns": LambdaReturns},
    "judges": {"gate": Gate},
}

RUN = SettingsTree(RunSettings, PARTS)


def run_settings(**given: object) -> RunSettings:
    """Return the settings of a run that has these values; given: keywords as `train` takes them."""
    return RUN.make(given)

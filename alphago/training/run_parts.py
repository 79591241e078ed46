"""The names of a run's parts.  They complete the keywords, the flags and the saved form of a run's settings."""

from collections import ChainMap
from collections.abc import Mapping
from typing import Any

from alphago.mcts.search_forms import SEARCHES
from alphago.nn.loss import LOSSES
from alphago.system.settings_tree import SettingsTree
from alphago.training.cgzero import CGZeroGames, CGZeroPuct, Champions, MixedTargets, Pool
from alphago.training.judges.gate import Gate
from alphago.training.settings.run_settings import RunSettings
from alphago.training.targets import LambdaReturns
from alphago.training.window import Window

# For each setting that is a part: the classes by name.  Parts of other classes, and functions, are saved as
# "module:name".
PARTS: dict[str, Mapping[str, Any]] = {
    "search": ChainMap({"cgzero-puct": CGZeroPuct}, SEARCHES),
    "seating": {"cgzero-games": CGZeroGames},
    "losses": LOSSES,
    "memory": {"window": Window, "pool": Pool},
    "targets": {"lambda-returns": LambdaReturns, "mixed-targets": MixedTargets},
    "judges": {"gate": Gate, "champions": Champions},
}

RUN = SettingsTree(RunSettings, PARTS)


def run_settings(**given: object) -> RunSettings:
    """Return the settings of a run that has these values; given: keywords as `train` takes them."""
    return RUN.make(given)

"""The names of a run's parts, and with them the keywords, the flags and the saved form of all settings of a run."""

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

# By the setting that is a part.  Parts of other classes, and functions, are saved as "module:name".
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
    """Return the settings of a run with the values of flat keywords, as `train` takes them."""
    return RUN.make(given)

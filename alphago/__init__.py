"""AlphaZero on your own machine: train a network, study it, play it.

from alphago import GoEnv, train, play

env = GoEnv(9)
net = train(env, num_games=100, ckp_freq=10, tower_height=10, start_training_after=500)
play(env, net, mode=1)
"""

import importlib
import pkgutil
import re
from typing import Any

__version__ = "0.1.0"

_STUB = str(pkgutil.get_data(__name__, "__init__.pyi"), "utf-8")
# By public name, the module that has it, from lines such as `from alphago.env.go import GoEnv as GoEnv`.
_HOMES = {name: home for home, name in re.findall(r"^from (\S+) import (\w+)", _STUB, re.M)}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """Return a public name, which is imported at its first use, so that `import alphago` is quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'alphago' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value  # later uses find it there, and do not call this function
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})

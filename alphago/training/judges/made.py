"""The judges of a run of self-play, made from its settings."""

from pathlib import Path
from typing import Any

from alphago.env.game import GameEnv
from alphago.nn.net import NeuralNet
from alphago.training.judge import Judge
from alphago.training.judges.gate import Gatekeeper
from alphago.training.judges.proof import Examiner
from alphago.training.judges.watcher import Watch
from alphago.training.settings.run_settings import RunSettings


def make_judges(
    settings: RunSettings, watch: Watch | None, env: GameEnv, net: NeuralNet, folder: Path
) -> list[Judge[Any]]:
    """Return the judges of a run that begins with `net`, in the order in which they judge.

    watch: of `settings.watch`.  folder: the run's.
    """
    judges: list[Judge[Any]] = [] if settings.gate is None else [Gatekeeper(settings.gate, net)]
    judges += [judge.make_judge(env, net, folder) for judge in settings.judges]
    if settings.until is not None:
        judges.append(Examiner(env, settings.until, folder))
    return judges if watch is None else [*judges, watch.make_judge(env, net, folder)]

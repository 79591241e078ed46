"""Judge: the interface between a run and the parts that judge its networks, by matches or otherwise."""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import torch

from alphago.env.game import GameEnv
from alphago.nn.net import NeuralNet
from alphago.nn.parts import strip_prefix

RunT = TypeVar("RunT", contravariant=True)  # the class Run, whose file imports this one


class Judge(Protocol[RunT]):
    """A judge of a run's networks: the gate, the proof of strength, or a judge that only measures.

    A class that derives from Judge must define `name`, `due` and `judge`.

    Attributes:
        name: the judge's name in the run's state and in evaluations.jsonl.
        decides: whether a verdict of this judge may end the run or change self-play's networks.  If so, the run is
            saved after each verdict.
        best: the network that self-play uses instead of the latest one; None if it uses the latest.
        ends_run: whether this judge's verdict has ended the run.
        saved: names of attributes with plain data, which the run's state keeps.
    """

    name: str
    decides: bool = True
    best: NeuralNet | None = None
    ends_run: bool = False
    saved: Sequence[str] = ()

    def due(self, run: RunT) -> bool:
        """Return whether to call `judge` now; the run asks between two iterations and at its end."""

    def judge(self, run: RunT, stop: threading.Event) -> None:
        """Judge the run's network; raise `alphago.system.interrupts.Stopped` if `stop` was set before the end."""

    def hand_over(self, stage: Any) -> None:
        """Give the stage's source of games what it needs from this judge beside `best`, such as an opponent of `best`.

        Args:
            stage: the run's Stage, whose `source` plays the next games.

        The run calls this before it publishes a network: when it begins or resumes, on a new board, and after gradient
        steps and verdicts.
        """
        return  # a body, so that the method is not abstract

    def conclusion(self, longer: str) -> str:
        """Return a sentence to report at the run's end; "" for nothing to report.

        Args:
            longer: options of `alphago train` that prolong the run.
        """
        return ""

    def tensors(self) -> Mapping[str, torch.Tensor]:
        """Return the judge's tensors for the run's state, by name: the weights of `best`, not copied."""
        return {} if self.best is None else self.best.state_dict(prefix=f"{self.name}.")

    def state(self) -> dict[str, Any]:
        """Return the attributes named in `saved`, as plain data for the run's state."""
        return {name: getattr(self, name) for name in self.saved}

    def restore(self, run: RunT, tensors: Mapping[str, torch.Tensor], state: Mapping[str, Any] | None) -> None:
        """Continue from a saved state of the run.

        Args:
            run: the run that continues, which a derived class may need.
            tensors: all tensors of the run's state.
            state: the result of this judge's method `state`; None if the saved run did not have this judge, which then
                begins anew.
        """
        if state is None:
            return
        if self.best is not None:
            self.best.load_state_dict(strip_prefix(tensors, f"{self.name}."))
        for name, value in state.items():
            setattr(self, name, value)

    def close(self) -> None:
        """Release what the judge holds, such as processes; called when the run's call ends."""
        return  # a body, so that the method is not abstract


class JudgeSettings(Protocol[RunT]):
    """The settings of a judge, a frozen dataclass, whose `make_judge` makes the judge."""

    @property
    def chooses(self) -> bool:
        """Whether the judge chooses self-play's network; a run has at most one such judge."""

    def make_judge(self, env: GameEnv, net: NeuralNet, folder: Path) -> Judge[RunT]:
        """Return the judge of a new run; `restore` continues the judge of a saved run.

        Args:
            env: the run's game.
            net: the run's first network.
            folder: the run's folder.
        """

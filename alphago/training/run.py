"""`Trainer`: where a run stands, what judges its network, and its checkpoints."""

import threading
import time
from collections.abc import Mapping
from enum import StrEnum
from itertools import islice
from pathlib import Path

import numpy as np

from alphago.env.game import GameEnv
from alphago.nn.inference.devices import torch_device
from alphago.nn.model_files import fingerprint
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.system.stopwatch import PUBLISHING, SAVING, Stopwatch
from alphago.training.boards import Boards
from alphago.training.drawing import Drawing
from alphago.training.judges.gate import Gatekeeper
from alphago.training.judges.proof import Examiner
from alphago.training.judges.resignation import calibrated
from alphago.training.learner import Learner
from alphago.training.memory import ReplayMemory
from alphago.training.runs.folder import RunFolder
from alphago.training.runs.state import State
from alphago.training.settings import TrainingSettings, stages
from alphago.training.watch.run_clock import RunClock, SavingTimes
from alphago.training.watch.time_shares import EXAMINATION, MATCHES

JUDGED_GAMES = 1000  # the latest ones, by which the threshold of resignation is set
# What of a Trainer is a plain value that goes into its state as it is.
COUNTS = ("phase", "kept", "games", "positions", "iterations", "samples_due", "readouts_now", "fresh", "compacted")


class Phase(StrEnum):
    """What comes next."""

    BEGIN = "begin"  # a new iteration
    PLAY = "play"  # the rest of its moves
    LEARN = "learn"  # the rest of its gradient steps


class Trainer:
    """One run, which `alphago.training.loop.iterate` takes further.

    `state` is all that it needs to go on from where it stands, at any move and before any gradient step.
    """

    def __init__(
        self,
        env: GameEnv,
        net: NeuralNet,
        settings: TrainingSettings,
        folder: RunFolder,
        workers: Workers,
        stop: threading.Event,
        device: str = "cpu",
    ) -> None:
        """device: where games are played and the network learns, "cpu", "cuda" or "host"."""
        self.device = device
        self.stages = stages(env, settings)
        self.net = net
        self.goal = env
        self.settings = settings
        self.folder = folder
        self.workers = workers
        self.learner = Learner(net, settings, workers, torch_device(device))
        self.drawing = Drawing(np.random.default_rng([settings.seed, 1 << 32]))
        self.stop = stop
        self.examiner: Examiner | None = None
        self.gatekeeper: Gatekeeper | None = None
        self.clock = RunClock(settings.max_minutes)
        self.saving = SavingTimes()
        self.kept = 0  # games at the latest checkpoint whose network is kept
        self.games = 0
        self.positions = 0  # of boards that are not played any more
        self.iterations = 0
        self.compacted = 0  # how often the run's folder was made compact
        self.watch = Stopwatch()  # of the thread that runs all this
        self.enter(0, 0, 0, {})

    def enter(self, stage: int, games: int, first: int, memories: Mapping[GameEnv, ReplayMemory]) -> None:
        """Goes on with a stage: the same network, games that begin anew, and memories of boards that were there before.

        games: how many were over then.  first: the number of the first new one.
        """
        self.stage, self.entered, self.first = stage, games, first
        numbers = range(first, first + self.settings.game_limit - games)
        self.boards = Boards(self.stages[stage], self.settings, numbers, memories, self.device)
        self.main = self.boards.main(self.goal)
        self.learner.resize(self.main.env)
        self.phase = Phase.BEGIN
        self.samples_due = 0.0
        self.readouts_now = 0  # of the iteration in progress
        self.fresh: dict[str, float] = {}  # what the network said to its new positions, before it learned from them

    def enter_next_stage(self) -> None:
        """Enters the stage that is due, if it is another one; never an earlier one, also where a run was prolonged."""
        due = next(number for number, stage in enumerate(self.stages) if self.progress < stage.end or stage.end == 1.0)
        if due > self.stage:
            self.checkpoint(keep=True)
            before, added = self.boards, self.positions + self.boards.added
            self.enter(due, self.games, before.begun, before.memories)
            self.positions = added - self.boards.added
            self.publish()

    @property
    def player(self) -> NeuralNet:
        """The network that plays, on the main board: the best one so far, or the latest where there is no gate."""
        return self.gatekeeper.best.resized(self.main.env) if self.gatekeeper else self.learner.average

    @PUBLISHING
    def publish(self) -> None:
        """Lets self-play go on with a snapshot of the network that plays now."""
        self.boards.publish(self.player)

    @SAVING
    def checkpoint(self, keep: bool = False) -> Path:
        """Saves all, and the threshold at which the network may resign where the latest games tell one.

        keep: whether this network is kept when later ones come.
        """
        began = time.monotonic()
        found = calibrated([entry.record for entry in islice(reversed(self.main.memory.entries), JUDGED_GAMES)])
        notes = found.notes() if found else {}
        if keep:
            self.kept = self.games
        latest = self.folder.checkpoint(self.player, self.games, self.state(), keep, **notes)
        self.saving.saved(began)
        return latest

    def checkpoint_if_due(self) -> None:
        """Saves after so many games as the settings say, and otherwise once a minute."""
        if self.games // self.settings.ckp_freq > self.kept // self.settings.ckp_freq:
            self.checkpoint(keep=True)
        elif self.saving.due:
            self.checkpoint()

    def state(self) -> State:
        """Where the run stands; self-play's threads must stand still."""
        tensors, boards = self.boards.state()
        data = {
            "stage": [self.stage, self.entered, self.first],
            **{name: getattr(self, name) for name in COUNTS},
            "steps": self.learner.steps,
            "skipped_steps": self.learner.skipped,
            "generator": self.drawing.state,
            "boards": boards,
            "seconds": self.clock.seconds,
            "processor": self.clock.processor,
            "ready": self.clock.ready,
            "examiner": self.examiner.state() if self.examiner else None,
            "gate": self.gatekeeper.state() if self.gatekeeper else None,
        }
        best = self.gatekeeper.tensors() if self.gatekeeper else {}
        return State({**self.learner.tensors(), **tensors, **best}, data)

    def restore(self, state: State) -> list[str]:
        """Goes on from a state of this run's folder; returns what had to be set aside."""
        data = state.data
        stage, games, first = data["stage"]
        self.enter(stage, games, first, {})
        for name in COUNTS:
            setattr(self, name, data[name])
        self.phase = Phase(data["phase"])
        self.learner.restore(state.tensors, data["steps"], data["skipped_steps"])
        self.drawing.state = data["generator"]
        if self.gatekeeper is not None and data["gate"] is not None:
            self.gatekeeper.restore(state.tensors, data["gate"])
        elif self.gatekeeper is not None:
            self.gatekeeper.begin(self.learner.average, self.games, self.learner.steps)
        self.publish()
        notes = self.boards.restore(self.folder.shards, state.tensors, data["boards"])
        self.clock.set(data["seconds"], data["processor"])
        self.clock.ready = data["ready"]
        if self.examiner is not None and data["examiner"] is not None:
            self.examiner.restore(data["examiner"])
        return notes

    @property
    def progress(self) -> float:
        """How much of the run is over, 0 .. 1, by games or by time, whichever is further."""
        return min(1.0, max(self.games / self.settings.game_limit, self.clock.progress))

    @property
    def is_proved(self) -> bool:
        """Whether an examination was passed."""
        return self.examiner is not None and self.examiner.proved

    @property
    def is_over(self) -> bool:
        """Whether all games are played, the time is over, or the network is proved to be stronger.

        Not within an iteration: what the last games teach is still to be learned.
        """
        ended = self.is_proved or self.games >= self.settings.game_limit or self.clock.used >= 1.0
        return ended and self.phase is Phase.BEGIN

    @property
    def longer(self) -> str:
        """The option of `alphago train` that makes a run twice as long which is over by its games or by its time."""
        settings = self.settings
        if settings.max_minutes is None or self.games >= settings.game_limit:
            return f"--games {2 * settings.game_limit}"
        return f"--minutes {2 * settings.max_minutes:g}"

    def examine_if_due(self) -> None:
        """Lets the examiner look at the network, if it is time to, unless `stop` comes; the clock stands still."""
        if self.examiner is None or self.main.env != self.goal or not self.examiner.due(self.clock.seconds):
            return
        if not self.stop.is_set():
            self._examine(self.examiner)

    @property
    def last_examination_is_due(self) -> bool:
        """Whether the run ended without a proof, and with another network than the one that was examined last."""
        if self.examiner is None or not self.is_over or self.is_proved or self.candidate_is_due:
            return False
        return self.examiner.examined != fingerprint(self.player.state_dict())

    def examine_last(self) -> None:
        """Lets the examiner look at the network that the run ends with, if it has not, unless `stop` comes."""
        if self.examiner is not None and self.last_examination_is_due and not self.stop.is_set():
            self._examine(self.examiner)

    def _examine(self, examiner: Examiner) -> None:
        self.checkpoint()  # examinations take long: what came before is not lost in one
        seconds, net = self.clock.seconds, self.player
        with self.clock.stopped(), EXAMINATION:
            # Where time ended within the curriculum, the network is still on a smaller board.
            fits = net if self.main.env == self.goal else net.resized(self.goal)
            decided = examiner.examine(fits, seconds, self.games, self.stop)
        if decided is not None:
            examiner.examined = fingerprint(net.state_dict())
            self.checkpoint()  # it is not made twice

    @property
    def candidate_is_due(self) -> bool:
        """Whether the network that learns is to be played against the best one now."""
        gate, over = self.gatekeeper, self.is_over and not self.is_proved
        return gate is not None and gate.due(self.games, self.learner.steps, self.settings.ckp_freq, over)

    def judge_if_due(self) -> None:
        """Plays a candidate against the best network, if it is time to, unless `stop` comes before the end."""
        if self.gatekeeper is None or not self.candidate_is_due:
            return
        boards = [(board.env, board.share) for board in self.boards.boards]
        when = {"seconds": self.clock.seconds, "games": self.games, "steps": self.learner.steps}
        with MATCHES:
            accepted = self.gatekeeper.judge(self.learner.average, boards, self.settings.readouts, self.stop, **when)
        if accepted:
            self.publish()
        if accepted is not None:
            self.checkpoint()  # matches take long: they are not played twice

    @property
    def readouts(self) -> int:
        """Readouts of a move at this point of the run."""
        last, first = self.settings.readouts, self.settings.first_readouts or self.settings.readouts
        return round(first * (last / first) ** self.progress)

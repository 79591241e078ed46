"""Opponents watched during a run: a judge that measures, and decides nothing.

Watching takes at most a share of the run's time.  An examination of one network by one opponent is made in slices, each
as large as the time that has been earned; the next slice may come many iterations later, and is of the same network.
So even an examination that takes long is one of the untrained network, and costs the run no more than its share.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from alphago.arena.engine import EngineError
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.nn.inference.frozen import frozen_copy
from alphago.nn.net import NeuralNet
from alphago.training.judges.watched import Examination, Watched
from alphago.training.run import Run
from alphago.training.watch.metrics import EXAMINATION

POINTS = 20  # examinations by one opponent in a run, at most
AT_THE_END = 0.25  # of the time is kept for the network that the run ends with
SLICE = 2.0  # seconds, about, of a slice: of quick games many side by side, of slow ones few
PREFIX = "watch."  # of the tensors' names

Clock = Callable[[], float]


class Budget:
    """The time that watching may take and has taken, over the whole run."""

    def __init__(self, share: float, clock: Clock) -> None:
        self.share = share
        self.clock = clock
        self.trained = 0.0  # seconds of the run without watching
        self._spent = 0.0
        self._since: float | None = None

    @property
    def spent(self) -> float:
        """Seconds of watching so far."""
        return self._spent + (0.0 if self._since is None else self.clock() - self._since)

    @spent.setter
    def spent(self, seconds: float) -> None:
        self._spent = seconds

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Count the time within the block."""
        self._since = self.clock()
        try:
            yield
        finally:
            self._spent, self._since = self.spent, None

    def left(self, kept: float = 0.0) -> float:
        """Return the seconds that may be spent now, negative after too many; `kept` is a share for later."""
        return self.share / (1 - self.share) * self.trained * (1 - kept) - self.spent

    @property
    def used(self) -> float:
        """The share of the time that watching has taken so far, 0 .. 1."""
        return self.spent / max(self.spent + self.trained, 1e-9)


class Limit(threading.Event):
    """An event that is also set while `stop` is, and once a time is over."""

    def __init__(self, stop: threading.Event, is_over: Callable[[], bool]) -> None:
        super().__init__()
        self.stop, self.is_over = stop, is_over

    def is_set(self) -> bool:
        return super().is_set() or self.stop.is_set() or self.is_over()


@dataclass
class Account:
    """One opponent's account: its time, and its examination in progress.

    spent: seconds so far.  cost: of a piece, as the latest slice has shown; 0 while unknown.
    begun: the run's progress when its latest examination began; None before the first.
    seed, network, standing: of that examination; `network` is a number in Watcher.networks.
    """

    watched: Watched
    spent: float = 0.0
    cost: float = 0.0
    begun: float | None = None
    examination: Examination | None = None
    seed: int = 0
    network: int = 0
    standing: Mapping[str, float] | None = None
    seconds: float = 0.0


COUNTS = ("spent", "cost", "begun", "seed", "network", "standing", "seconds")


class Watcher:
    """The judge that lets opponents play a run's networks, and keeps results and games in `evaluations.jsonl`."""

    name = "watch"
    best: NeuralNet | None = None
    decides = False
    ends_run = False

    def __init__(
        self, env: GameEnv, watched: Sequence[Watched], share: float, *, at_once: int = 1, clock: Clock = time.monotonic
    ) -> None:
        """Watch at most for that share of the run's time; `at_once`: pieces that keep all cores busy."""
        self.env = env
        self.accounts = [Account(one) for one in watched]
        self.budget = Budget(share, clock)
        self.at_once = at_once
        self.begun = 0  # examinations
        self.ending: int | None = None  # iterations of the run when its last network's examinations began
        self.networks: dict[int, NeuralNet] = {}  # that are being examined, by when they were taken
        self._evaluators: dict[int, Evaluator] = {}

    # --- when ---

    def due(self, run: Run) -> bool:
        """Return whether an examination should begin, or a slice of one can be paid."""
        self.budget.trained = run.clock.seconds
        if run.is_over:
            return self.ending != run.iterations or any(account.examination for account in self.accounts)
        return any(self.is_due(account, run) for account in self.accounts) or self.payable() is not None

    def is_due(self, account: Account, run: Run) -> bool:
        """Return whether the next examination by an opponent should begin."""
        if account.examination is not None:
            return False
        return account.begun is None or not account.begun <= run.progress < account.begun + 1 / POINTS

    def payable(self, kept: float = AT_THE_END) -> tuple[Account, int] | None:
        """Return whose turn it is, and how many pieces can be paid; None while there is not enough time for a slice.

        The turn is that of the opponent that has had the least time: quick ones leave to slow ones what they do not
        need.  Where no time is `kept` for later, a slice may be small.
        """
        accounts = [account for account in self.accounts if account.examination is not None]
        left = self.budget.left(kept)
        if not accounts or left <= 0:
            return None
        account = min(accounts, key=lambda account: account.spent)
        assert account.examination is not None
        most = account.examination.pieces_left
        if not account.cost:
            return account, 1
        slice_size = min(most, max(self.at_once, int(SLICE / account.cost)))
        affordable = min(most, int(left / account.cost))
        if not kept:
            return account, max(1, affordable)
        return (account, affordable) if affordable >= slice_size else None

    # --- what ---

    def judge(self, run: Run, stop: threading.Event) -> bool:
        """Make the slices that are due, with the run's clock stopped; return False if `stop` came first."""
        self.budget.trained, standing, progress = run.clock.seconds, run.standing, run.progress
        at_the_end, due = run.is_over, [account for account in self.accounts if self.is_due(account, run)]
        if at_the_end:
            due = self.accounts if self.ending != run.iterations else []
            self.ending = run.iterations
        kept = 0.0 if at_the_end else AT_THE_END
        with run.clock.stopped(), EXAMINATION, self.budget.spending():
            for account in due:
                self.close(account, run)
                self.begin(account, run, standing, progress)
            while (turn := self.payable(kept)) is not None:
                self.go_on(*turn, run, stop, kept)
                if stop.is_set():
                    return False
            if at_the_end:
                for account in self.accounts:
                    self.close(account, run)
        return True

    def begin(self, account: Account, run: Run, standing: Mapping[str, float], progress: float) -> None:
        """Begin the examination of the network that plays now."""
        if run.iterations not in self.networks:
            fits = run.player if run.main.env == self.env else run.player.resized(self.env)
            self.networks[run.iterations] = frozen_copy(fits)
        self.begun += 1
        account.begun, account.seed, account.network = progress, self.begun, run.iterations
        account.standing, account.seconds = standing, 0.0
        account.examination = account.watched.examination(account.seed, run.device)

    def go_on(self, account: Account, pieces: int, run: Run, stop: threading.Event, kept: float) -> None:
        """Make a slice of an examination; one of several pieces ends where the time does."""
        examination = account.examination
        assert examination is not None
        began, before = self.budget.spent, examination.pieces_left
        limit = Limit(stop, lambda: pieces > 1 and self.budget.left(kept) <= 0)
        failure = ""
        try:
            examination.go_on(self.evaluator(account.network, run), pieces, limit)
        except EngineError as error:
            failure = f"watching {account.watched.name} failed, after {self.budget.trained / 60:.1f} minutes: {error}"
        seconds = self.budget.spent - began
        account.spent += seconds
        account.seconds += seconds
        # Where the time was over before the first piece was, the next slice waits for more.
        account.cost = seconds / max(1, before - examination.pieces_left)
        if failure:
            run.note(failure)
            self.drop(account)
        elif not examination.pieces_left:
            self.close(account, run)

    def evaluator(self, network: int, run: Run) -> Evaluator:
        """Return the evaluator of a network that is being examined."""
        if network not in self._evaluators:
            self._evaluators[network] = self.networks[network].evaluator(run.settings.selfplay_dtype, run.device)
        return self._evaluators[network]

    def close(self, account: Account, run: Run) -> None:
        """End an examination: write down and report what it has shown so far, if anything."""
        examination, standing = account.examination, account.standing
        row = None if examination is None else examination.row()
        if examination is not None and standing is not None and row is not None:
            times = {"match_seconds": account.seconds, "watch_seconds": self.budget.spent}
            run.add_match({**standing, "judge": self.name, **row, **times})
            after = f"{standing['seconds'] / 60:.1f} minutes and {standing['games']:.0f} games"
            run.note(f"{account.watched.name} after {after}: {examination.summary()}")
        self.drop(account)

    def drop(self, account: Account) -> None:
        """Forget an examination, and its network if no other one needs it."""
        account.examination = None
        needed = {other.network for other in self.accounts if other.examination is not None}
        for kept in (self.networks, self._evaluators):
            for number in kept.keys() - needed:
                del kept[number]

    def conclusion(self, longer: str) -> str:
        """Return a sentence on the time that watching took."""
        return (
            f"watching took {self.budget.spent:.1f} s, {self.budget.used:.1%} of the time "
            f"(at most {self.budget.share:.1%} was asked for)"
        )

    # --- what is saved ---

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the weights of the networks that are being examined, by name; not copies."""
        return {
            f"{PREFIX}{number}.{name}": tensor
            for number, net in self.networks.items()
            for name, tensor in net.state_dict().items()
        }

    def state(self) -> dict[str, Any]:
        """Return the accounts with their examinations, as plain data."""
        accounts = {
            account.watched.name: {
                **{name: getattr(account, name) for name in COUNTS},
                "examination": None if account.examination is None else account.examination.state(),
            }
            for account in self.accounts
        }
        return {"spent": self.budget.spent, "begun": self.begun, "ending": self.ending, "accounts": accounts}

    def restore(self, run: Run, tensors: Mapping[str, torch.Tensor], state: Mapping[str, Any] | None) -> None:
        """Continue with the accounts where they stood; an opponent that is new has had as much time as the others."""
        if state is None:
            return
        self.budget.spent, self.begun, self.ending = state["spent"], state["begun"], state["ending"]
        saved = state["accounts"]
        known = [account for account in self.accounts if account.watched.name in saved]
        for account in known:
            own = saved[account.watched.name]
            for name in COUNTS:
                setattr(account, name, own[name])
            if own["examination"] is not None:
                account.examination = account.watched.examination(account.seed, run.device, own["examination"])
                self._restore_network(account.network, run, tensors)
        least = min((account.spent for account in known), default=0.0)
        for account in self.accounts:
            if account not in known:
                account.spent = least
                self.ending = None  # it has not examined the last network

    def _restore_network(self, number: int, run: Run, tensors: Mapping[str, torch.Tensor]) -> None:
        prefix = f"{PREFIX}{number}."
        if number not in self.networks:
            net = frozen_copy(run.learner.net.resized(self.env))
            net.load_state_dict({n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)})
            self.networks[number] = net

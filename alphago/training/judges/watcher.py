"""Opponents watched during a run: a judge that measures, and decides nothing.

Watching takes at most a share of the run's time.  An examination of one network by one opponent is made in slices, each
as long as the time that has been earned; games pause between two moves and go on in the next slice, perhaps many
iterations later, with the same network.  So even an examination that takes long is one of the untrained network, and
costs the run no more than its share.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from alphago.arena.engine import EngineError
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.nn.inference.frozen import frozen_copy
from alphago.nn.net import NeuralNet
from alphago.training.judges.budget import Budget, Clock, Limit
from alphago.training.judges.watched import Examination, Watched
from alphago.training.run import Run
from alphago.training.watch.metrics import EXAMINATION

POINTS = 20  # examinations by one opponent in a run, at most
LONGEST = 1 / 8  # of a run: an examination that has taken longer ends with the pieces that it has
AT_THE_END = 0.25  # of the time is kept for the network that the run ends with
SPARE = 0.03  # of the time is left in the end, since a slice ends after the move in progress only
SHORTEST = 0.25  # seconds of a slice
SIDE_BY_SIDE = 2.0  # seconds, about, of the games that are played together: many quick ones, few slow ones
PREFIX = "watch."  # of the tensors' names


@dataclass
class Account:
    """One opponent's account: its time, and its examination in progress.

    spent: seconds so far.  cost: of a piece, in the latest examination; 0 while unknown.
    begun: the run's progress when its latest examination began; None before the first.
    seed, network, standing, seconds: of that examination; `network` is a number in Watcher.networks.
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
    lineup = None
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
        self.progress = 0.0  # of the run, 0 .. 1
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
        """Return whether the next examination by an opponent should begin.

        That is where another twentieth of the run begins: quick opponents then examine the same network, for which an
        evaluator is made once.
        """
        if account.examination is not None:
            return False
        return account.begun is None or int(POINTS * account.begun) != int(POINTS * run.progress)

    def payable(self) -> Account | None:
        """Return whose turn it is; None while there is no examination, or not enough time for a slice.

        The turn is that of the opponent that has had the least time: quick ones leave to slow ones what they do not
        need.
        """
        accounts = [account for account in self.accounts if account.examination is not None]
        if not accounts or self.budget.left - self.budget.earned * AT_THE_END < SHORTEST:
            return None
        return min(accounts, key=lambda account: account.spent)

    # --- what ---

    def judge(self, run: Run, stop: threading.Event) -> bool:
        """Make the slices that are due, with the run's clock stopped; return False if `stop` came first."""
        self.budget.trained, standing, self.progress = run.clock.seconds, run.standing, run.progress
        at_the_end, due = run.is_over, [account for account in self.accounts if self.is_due(account, run)]
        if at_the_end:
            due = self.accounts if self.ending != run.iterations else []
            self.ending = run.iterations
        with run.clock.stopped(), EXAMINATION, self.budget.spending():
            for account in due:
                self.close(account, run)
                self.begin(account, run, standing)
            return self.end(run, stop) if at_the_end else self.spend(run, stop)

    def spend(self, run: Run, stop: threading.Event) -> bool:
        """Let examinations go on in the time that has been earned, but for what is kept; False if `stop` came."""
        while (account := self.payable()) is not None:
            self.go_on(account, run, stop, self.budget.earned * AT_THE_END)
            if stop.is_set():
                return False
        return True

    def end(self, run: Run, stop: threading.Event) -> bool:
        """Examine the last network in the time that is left, in equal parts; return False if `stop` came."""
        spare = SPARE * self.budget.earned
        for account in sorted(self.accounts, key=lambda account: account.cost):
            if account.examination is not None and self.budget.left > spare:
                self.evaluator(account.network, run)  # before the time is divided: the first one makes it for all
                others = sum(other.examination is not None for other in self.accounts) - 1
                kept = spare + (self.budget.left - spare) * others / (others + 1)
                self.go_on(account, run, stop, kept, at_the_end=True)
            if stop.is_set():
                return False
            if account.examination is not None and not account.examination.pieces:
                run.note(f"{account.watched.name} had no time for the last network: a larger watch_share gives it more")
            self.close(account, run)
        return True

    def begin(self, account: Account, run: Run, standing: Mapping[str, float]) -> None:
        """Begin the examination of the network that plays now."""
        if run.iterations not in self.networks:
            fits = run.player if run.main.env == self.env else run.player.resized(self.env)
            self.networks[run.iterations] = frozen_copy(fits)
        self.begun += 1
        account.begun, account.seed, account.network = self.progress, self.begun, run.iterations
        account.standing, account.seconds = standing, 0.0
        account.examination = account.watched.examination(account.seed, run.device)

    def go_on(
        self, account: Account, run: Run, stop: threading.Event, kept: float, *, at_the_end: bool = False
    ) -> None:
        """Let an examination go on until it is over, or no more time is left than is `kept`."""
        examination = account.examination
        assert examination is not None
        evaluator = self.evaluator(account.network, run)  # which others use too
        began, earned = self.budget.spent, self.budget.left - kept
        at_once = self.at_once
        if account.cost:
            at_once = max(at_once, int(SIDE_BY_SIDE / account.cost))
            at_once = max(1, min(at_once, int(earned / account.cost))) if at_the_end else at_once
        failure = ""
        try:
            limit = Limit(stop, lambda: self.budget.left <= kept)
            while not (limit.is_set() or examination.is_over or self.is_late(account)):
                examination.go_on(evaluator, at_once, limit)
        except EngineError as error:
            failure = f"watching {account.watched.name} failed, after {self.budget.trained / 60:.1f} minutes: {error}"
        seconds = self.budget.spent - began
        account.spent += seconds if account.spent else min(seconds, SHORTEST)  # the first slice compiles
        account.seconds += seconds
        if examination.pieces:
            account.cost = account.seconds / examination.pieces
        if failure:
            run.note(failure)
            self.drop(account)
        elif examination.is_over or self.is_late(account):
            self.close(account, run)

    def is_late(self, account: Account) -> bool:
        """Return whether an examination should end with the pieces that it has."""
        examination, begun = account.examination, account.begun
        if examination is None or begun is None or not examination.pieces or not examination.at_rest:
            return False
        return not begun <= self.progress < begun + LONGEST

    def evaluator(self, network: int, run: Run) -> Evaluator:
        """Return the evaluator of a network that is being examined."""
        if network not in self._evaluators:
            self._evaluators[network] = self.networks[network].evaluator(
                run.settings.selfplay_dtype, run.device, shared=False
            )
        return self._evaluators[network]

    def close(self, account: Account, run: Run) -> None:
        """End an examination: write down and report what it has shown, if anything."""
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
        if account.examination is not None:
            account.examination.close()
            account.examination = None
        needed = {other.network for other in self.accounts if other.examination is not None}
        for kept in (self.networks, self._evaluators):
            for number in kept.keys() - needed:
                del kept[number]

    def stop(self) -> None:
        """End all examinations without a word, as the run is left; those in its state go on with it."""
        for account in self.accounts:
            self.drop(account)

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

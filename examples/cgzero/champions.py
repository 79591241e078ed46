"""The champions: a run's two best networks play self-play against themselves, each other and recent networks.

The matches and the mixture of games are as in CGZero (marchete 2020, github.com/marchete/CGZero), whose constants are
the defaults of `Champions`.
"""

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from games import CGZeroSelfPlay, Lineup, Shares
from pool import SamplePool

from alphago.env.game import GameEnv
from alphago.nn.inference.frozen_net import frozen_copy
from alphago.nn.net import NeuralNet
from alphago.nn.parts import strip_prefix
from alphago.system.stopwatch import MATCHES
from alphago.system.validation import check_ranges, setting, settings
from alphago.training.judge import Judge
from alphago.training.judges.gate import log_match, play_candidate
from alphago.training.run import Run
from alphago.training.settings.judge_settings import Gate
from alphago.training.stage import Stage

PREFIX = "champion."  # of the names of tensors in a run's state; the network's number follows
STREAM = 4_000_000_009  # recent networks are drawn by generators seeded with (seed, STREAM, candidates)
# Attributes of a ChampionKeeper that its state contains.
FIELDS = ("candidates", "judged_games", "judged_steps", "best_number", "second_number", "recent_number", "rates")


@settings
class Champions:
    """Settings of a run whose two best networks, the champions, play self-play (see ChampionKeeper).

    They state when a candidate, the latest network, becomes a champion, and which networks play each other.  The run
    needs `source=CGZeroGames()`.  The defaults are CGZero's (marchete 2020) unless a setting's help gives another
    number for CGZero.
    """

    win_rate: float = setting(
        "win rate that the candidate needs against the best network, a draw counting half",
        default=0.556,
        positive=True,
        most=1,
    )
    second_rate: float = setting(
        "win rate that an accepted candidate needs against the second best network: then the previous best network "
        "becomes the second best, else the second best stays, since it has a strength that the candidate lacks",
        default=0.5,
        least=0,
        most=1,
    )
    games: int = setting(
        "games of a match against each champion, an even number: each opening is played with both colours (CGZero: "
        "400)",
        default=100,
        least=2,
    )
    every: int | None = setting(
        "games of self-play between two candidates; None for one candidate after each generation of a pool, or "
        "without a pool for `ckp_freq`, the games between two checkpoints",
        default=None,
        least=1,
    )
    readouts: int | None = setting(
        "simulations per move; 0 compares the policies alone, None uses self-play's number", default=None, least=0
    )
    recent: int = setting(
        "number of latest candidates, including the newest, from which self-play's recent network is drawn",
        default=6,
        least=1,
        most=100,
    )
    recent_share: float = setting(
        "share of self-play's games in which a champion plays a recent network", default=0.1, least=0, most=0.8
    )
    least_share: float = setting(
        "least share of self-play's games in which the best network plays itself", default=0.2, least=0, most=1
    )

    chooses = True

    def __post_init__(self) -> None:
        check_ranges(self, "the champions' ")
        if self.games % 2:
            raise ValueError(f"the champions' games must be an even number, got {self.games!r}")
        if self.least_share + self.recent_share > 1:
            raise ValueError(
                "the champions' least_share and recent_share must be at most 1 together, got "
                f"{self.least_share!r} and {self.recent_share!r}"
            )

    def make_judge(self, env: GameEnv, net: NeuralNet, folder: Path) -> "ChampionKeeper":
        """Return the judge of a run that begins with `net`."""
        return ChampionKeeper(self, net)


class ChampionKeeper(Judge[Run]):
    """The judge that keeps a run's two best networks and its latest candidates; it logs matches in evaluations.jsonl.

    Each network has a number: 0 for the run's first network, k for candidate k.

    Args:
        champions: the settings: when a candidate becomes a champion, and which networks play each other.
        net: the run's first network.
    """

    name = "champions"
    best: NeuralNet

    def __init__(self, champions: Champions, net: NeuralNet) -> None:
        self.champions = champions
        self.begin(net, games=0, steps=0)

    def begin(self, net: NeuralNet, games: int, steps: int) -> None:
        """Make `net` best and second best.

        Args:
            games, steps: the run's self-play games and gradient steps so far.
        """
        self.nets = {0: frozen_copy(net)}  # both champions and the latest candidates, by number
        self.candidates = 0
        self.best_number = self.second_number = self.recent_number = 0
        self.rates = [0.5, 0.5]  # the latest candidate's win rates against the best and the second best
        self.judged_games = games  # games of self-play when the last candidate was judged
        self.judged_steps = steps  # gradient steps at that time; without further steps there is no new network
        self._choose_players()

    def _choose_players(self) -> None:
        """Set the networks that play self-play from their numbers.

        Until a candidate has been accepted, best and second best are the same network, which plays alone.
        """
        self.best, self.second = self.nets[self.best_number], self.nets[self.second_number]
        others = self.second, self.nets[self.recent_number]
        self.lineup = None if self.second is self.best else Lineup(others, self.shares)

    @property
    def shares(self) -> Shares:
        """The shares of the three kinds of games.

        A lower win rate of the latest candidate against the best network raises the share of games that the best
        network plays against itself; a lower win rate against the second best raises the share of best against second.
        """
        against_best, against_second = self.rates
        total = against_best + against_second
        champions_alone = 1 - self.champions.recent_share  # share of games without a recent network
        # The best network's part of these games against itself; 0.5 if the candidate has lost all games.
        alone_part = 1 - against_best / total if total else 0.5
        alone = max(self.champions.least_share, champions_alone * alone_part)
        return Shares(alone, champions_alone - alone, self.champions.recent_share)

    def hand_over(self, stage: Stage) -> None:
        """Give the networks that play beside the best one to the stage's source of games."""
        if isinstance(stage.source, CGZeroSelfPlay):
            stage.source.set_lineup(self.lineup, stage.env, stage.settings.selfplay_dtype)
        elif self.lineup is not None:
            raise TypeError(
                f"champions must have source=CGZeroGames(), whose games two networks play, got {stage.source!r}"
            )

    def due(self, run: Run) -> bool:
        """Return whether the latest network should play the champions now."""
        if run.learner.steps <= self.judged_steps:
            return False
        after_each_generation = self.champions.every is None and isinstance(run.stage.memory, SamplePool)
        if run.is_over or after_each_generation:
            return not run.is_proved  # the network of a proof stays the run's network
        every = self.champions.every or run.settings.ckp_freq
        return run.games // every > self.judged_games // every

    @MATCHES
    def judge(self, run: Run, stop: threading.Event) -> None:
        """Play matches of the latest network, the candidate, against both champions, and replace champions if it wins.

        The candidate becomes the best network if its win rate against the best is at least `Champions.win_rate`.  The
        previous best then becomes the second best if the candidate's win rate against the second best is at least
        `Champions.second_rate`.  Training continues from a rejected candidate too.

        Raises:
            MatchStopped: with nothing changed, if `stop` was set before the matches were over.
        """
        champions = self.champions
        terms = Gate(champions.win_rate, champions.games, readouts=champions.readouts)
        seed = 2 * self.candidates  # a candidate's matches, one or two, have the seeds `seed` and `seed + 1`
        # While there is one champion only, its match counts as both.
        against_best = against_second = play_candidate(run, self.best, terms, seed, stop)
        if self.second is not self.best:
            against_second = play_candidate(run, self.second, terms, seed + 1, stop)
        row = {**run.standing, "judge": self.name}
        accepted = against_best.accepted
        log_match(run, against_best, {**row, "opponent": "best so far", "accepted": accepted})
        if against_second is not against_best:
            log_match(run, against_second, {**row, "opponent": "second best"})
        self.candidates += 1
        self.nets[self.candidates] = frozen_copy(run.learner.net)
        self.rates = [against_best.result.win_rate, against_second.result.win_rate]
        if accepted:
            if against_second.result.win_rate >= champions.second_rate:
                self.second_number = self.best_number
            self.best_number = self.candidates
        recent = self._drop_networks()
        generator = np.random.default_rng([run.settings.seed, STREAM, self.candidates])
        self.recent_number = int(generator.choice(recent))
        self._choose_players()
        self.judged_games, self.judged_steps = run.games, run.learner.steps

    def _drop_networks(self) -> list[int]:
        """Drop all networks but the champions and the latest candidates; return the latest candidates' numbers."""
        recent = sorted(self.nets)[-self.champions.recent :]
        kept = {self.best_number, self.second_number, *recent}
        self.nets = {number: net for number, net in self.nets.items() if number in kept}
        return recent

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the weights of all networks by name; they share memory with the networks."""
        named = [net.state_dict(prefix=f"{PREFIX}{number}.") for number, net in self.nets.items()]
        return {name: tensor for tensors in named for name, tensor in tensors.items()}

    def state(self) -> dict[str, Any]:
        """Return the networks' numbers and the judge's counters, which `restore` needs, as plain data."""
        return {"networks": sorted(self.nets), **{name: getattr(self, name) for name in FIELDS}}

    def restore(self, run: Run, tensors: Mapping[str, torch.Tensor], state: Mapping[str, Any] | None) -> None:
        """Continue from the saved `tensors` and `state`.

        If `state` is None, the saved run had no champions, and the latest network becomes both champions.
        """
        if state is None:
            self.begin(run.learner.net, run.games, run.learner.steps)
            return
        template = self.nets[0]  # the run's first network, whose weights are replaced in the copies
        self.nets = {number: frozen_copy(template) for number in state["networks"]}
        for number, net in self.nets.items():
            net.load_state_dict(strip_prefix(tensors, f"{PREFIX}{number}."))
        for name in FIELDS:
            setattr(self, name, state[name])
        self._choose_players()

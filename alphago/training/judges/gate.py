"""The gate: self-play uses the best network so far, which a candidate replaces only by winning a match against it.

This is AlphaGo Zero's evaluator (Silver et al. 2017, Methods, "Evaluator").  AlphaZero has no gate; `train` has one
only if `gate` is set.
"""

import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch

from alphago.arena.match_games import opening_length
from alphago.arena.match_result import MatchResult
from alphago.mcts.search_specs import SELF_PLAY_RULE
from alphago.nn.inference.frozen_net import frozen_copy
from alphago.nn.net import NeuralNet
from alphago.system import stopwatch
from alphago.training.judge import Judge
from alphago.training.judges.results import games_as_text, match_row, play_in_parts
from alphago.training.run import Run
from alphago.training.settings.judge_settings import Gate


class Gatekeeper(Judge[Run]):
    """The judge that plays matches of candidates against a run's best network; it logs matches in evaluations.jsonl.

    A candidate is the run's latest network at the time of a match.

    Args:
        gate: the conditions.
        net: the run's first network.
    """

    name = "gate"
    saved = ("candidates", "judged_games", "judged_steps")
    best: NeuralNet

    def __init__(self, gate: Gate, net: NeuralNet) -> None:
        self.gate = gate
        self.candidates = 0  # number of matches played
        self.set_best(net, games=0, steps=0)

    def set_best(self, net: NeuralNet, games: int, steps: int) -> None:
        """Make `net` the best network without a match.

        Args:
            games: games of self-play of the run so far.
            steps: gradient steps of the run so far.
        """
        self.best = frozen_copy(net)
        self.judged_games = games  # games of self-play when the last candidate was judged
        self.judged_steps = steps  # gradient steps at that time; without further steps there is no new network

    def due(self, run: Run) -> bool:
        """Return whether the latest network should play a match against the best network now.

        It should after each multiple of the gate's `every` games, and at the run's end unless the run ends with a
        proof; but only if the network has learned since the last match.
        """
        if run.learner.steps <= self.judged_steps:
            return False
        games_between = self.gate.every or run.settings.ckp_freq
        has_passed_multiple = run.games // games_between > self.judged_games // games_between
        is_at_the_end = run.is_over and not run.is_proved  # the network of a proof stays the run's network
        return is_at_the_end or has_passed_multiple

    @stopwatch.MATCHES
    def judge(self, run: Run, stop: threading.Event) -> None:
        """Play a match of the latest network against the best network; if the latest passes, it becomes the best.

        Raises:
            MatchStopped: if `stop` was set before the match was over.
        """
        standing = run.standing  # seconds and counts, from before the match
        match = play_candidate(run, self.best, self.gate, number=self.candidates, stop=stop)
        log_match(run, match, {**standing, "judge": self.name, "opponent": "best so far", "accepted": match.accepted})
        self.candidates += 1
        if match.accepted:
            self.best = frozen_copy(run.learner.net)
        self.judged_games, self.judged_steps = run.games, run.learner.steps

    def restore(self, run: Run, tensors: Mapping[str, torch.Tensor], state: Mapping[str, Any] | None) -> None:
        """Continue from the saved `tensors` and `state`.

        If `state` is None, the saved run had no gate, and the latest network becomes the best.
        """
        if state is None:
            self.set_best(run.learner.net, run.games, run.learner.steps)
        super().restore(run, tensors, state)  # which does nothing if `state` is None


class Match(NamedTuple):
    """A match of a candidate, and what came of it.

    Attributes:
        result: from the candidate's view.
        accepted: whether the candidate won by the gate's conditions, and replaces the best network.
        row: the entries of a row of evaluations.jsonl that do not depend on the judge.
    """

    result: MatchResult
    accepted: bool
    row: Mapping[str, Any]


def play_candidate(run: Run, opponent: NeuralNet, gate: Gate, number: int, stop: threading.Event) -> Match:
    """Play a match of the run's latest network against `opponent`, on the board of the run's stage, and return it.

    Args:
        gate: the conditions of the match; its schedule is not used.
        number: the number of the match, from which the seeds of its games are made.

    Raises:
        MatchStopped: if `stop` is set before the end.
    """
    began = time.monotonic()
    selfplay = run.settings.selfplay
    readouts = selfplay.readouts if gate.readouts is None else gate.readouts
    # The match uses self-play's search, without noise.  A search that a user has chosen is passed as an object, with
    # the user's settings.  The usual search is passed by its name, so that the match chooses settings for matches.
    search = SELF_PLAY_RULE if selfplay.search == selfplay.usual_search else selfplay.search
    result = play_in_parts(
        run.env,
        (run.match_evaluator(run.learner.net, run.env), run.match_evaluator(opponent, run.env)),
        games=gate.games,
        number=number,
        decided=lambda _: False,  # all games are played
        readouts=readouts,
        search=search,
        random_opening=opening_length(run.env),
        device=run.device,
        stop=stop,
    )
    row = {"readouts": readouts, **match_row(run.env, result), "board_size": run.env.N}
    row |= {"moves": games_as_text(run.env, result), "match_seconds": time.monotonic() - began}
    return Match(result, accepted=result.win_rate >= gate.win_rate, row=row)


def log_match(run: Run, match: Match, row: Mapping[str, Any]) -> None:
    """Log a finished match with its games, and report it.

    Args:
        row: the first entries of the match's row in evaluations.jsonl: `run.standing`, "judge" and "opponent".  If the
            match decides whether the candidate becomes the best network, also "accepted".
    """
    run.add_match({**row, **match.row})
    verdicts = {True: "; it is the best now", False: "; the best stays", None: ""}  # None: nothing is decided
    verdict = verdicts[row.get("accepted")]
    run.note(f"candidate after {run.games} games against the {row['opponent']}: {match.result}{verdict}")

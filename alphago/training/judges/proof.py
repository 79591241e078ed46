"""Matches during a run against a fixed opponent, until the network is proved to be stronger."""

import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from alphago.arena.engine import EngineError
from alphago.arena.match import MatchStopped, evaluate
from alphago.arena.match_games import opening_length
from alphago.arena.match_result import MatchResult
from alphago.arena.sprt import Sprt, Verdict, pair_scores
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.gumbel import Gumbel
from alphago.nn.model_files import fingerprint
from alphago.nn.net import NeuralNet
from alphago.system.files import write_atomic
from alphago.system.stopwatch import EXAMINATION
from alphago.training.history import EVALUATIONS, number, read_rows
from alphago.training.judge import Judge
from alphago.training.judges.results import games_as_text, match_row, without_forfeits
from alphago.training.run import Run
from alphago.training.runs.going_on import how_to_continue
from alphago.training.settings.judge_settings import Opponent

# Proving "better than even" against "40 Elo points better": about 60 games at a win rate of 75 %, 200 at 60 %.
TEST = Sprt(0.0, 40.0)
GAMES_AT_ONCE = 20
SEEDS_OF_MATCH = 1000  # more than the parts of a match, each of which has a seed of its own
LATEST_MATCHES = 5  # number of matches whose win rates are in the sentence at the run's end
PROOF = "proof.json"
SEARCH = Gumbel()  # one leaf per wave, which is slow; but the opponent takes most of the time anyway


class Examiner(Judge[Run]):
    """The judge that plays matches against an opponent on a schedule and ends the run once the network is stronger.

    env: the game of the matches.
    opponent: the opponent and the schedule.
    folder: the run's folder; the judge writes evaluations.jsonl and proof.json there.
    """

    name = "proof"

    def __init__(self, env: GameEnv, opponent: Opponent, folder: Path) -> None:
        self.env = env
        self.opponent = opponent
        length = opponent.random_opening
        self.random_opening = opening_length(env) if length is None else length
        self.folder = folder
        self.next_at = 60 * opponent.first  # seconds of training
        self.examinations = 0
        self.examined = ""  # fingerprint of the network in the last match

    def due(self, run: Run) -> bool:
        """Return whether a match is due: by the schedule, or at the run's end if its network has played no match."""
        if self.ends_run:
            return False
        if run.is_over:
            return self.examined != fingerprint(run.player.state_dict())
        return run.env == self.env and run.clock.seconds >= self.next_at

    def judge(self, run: Run, stop: threading.Event) -> bool:
        """Play a match with the network that self-play uses, with the run's clock stopped.

        Returns False if `stop` was set before the match was over.
        """
        run.checkpoint()  # a match takes long: save the run first
        net = run.player
        with run.clock.stopped(), EXAMINATION:
            # If the run's time ended within the curriculum, the network is still for a smaller board.
            net_for_board = net if run.env == self.env else net.resized(self.env)
            if not self.examine(run, net_for_board, stop):
                return False
        self.examined = fingerprint(net.state_dict())
        return True

    def examine(self, run: Run, net: NeuralNet, stop: threading.Event) -> bool:
        """Play a match until the sequential test TEST decides or `most_games` are played, and record it.

        If an engine forfeits a game, neither that game nor the other game with the same opening counts.
        Returns False if `stop` was set first.  Raises EngineError if every pair of games has a forfeit.
        """
        began = time.monotonic()
        standing = run.standing
        seconds = standing["seconds"]
        match = self.play(run.match_evaluator(net, self.env), run.device, stop)
        if match is None:
            return False
        valid, forfeits, verdict = match
        row = {
            **standing,
            "judge": self.name,
            "opponent": self.opponent.name,
            "readouts": self.opponent.readouts,
            **match_row(self.env, valid),
            "forfeits": len(forfeits),
            "sprt": verdict.state,
            "log_likelihood_ratio": verdict.ratio,
            "match_seconds": time.monotonic() - began,
        }
        run.add_match(row)
        left_out = f"; not counted: {len(forfeits)} games that {self.opponent.name} lost by a fault" if forfeits else ""
        run.note(
            f"after {seconds / 60:.1f} minutes against {self.opponent.name}: {valid}{left_out}; {WORDS[verdict.state]}"
        )
        self.examinations += 1
        self.next_at = max(self.next_at, seconds) + 60 * self.opponent.every  # a late match delays all later ones
        self.ends_run = verdict.state == "accept"
        if self.ends_run:
            self.write_proof(row, valid)
        return True

    def play(
        self, player: Evaluator, device: str, stop: threading.Event
    ) -> tuple[MatchResult, Mapping[int, str], Verdict] | None:
        """Play until the test decides, or `most_games` are played; player: the evaluator of the run's network.

        Returns the result of the games that count, the engine's fault in each of the other games by number, and the
        verdict; None if `stop` was set first.
        """
        played: list[MatchResult] = []
        verdict = Verdict("continue", 0.0, 0)
        while verdict.state == "continue" and len(played) * GAMES_AT_ONCE < self.opponent.most_games:
            try:
                result = evaluate(
                    self.env,
                    player,
                    self.opponent.name,
                    num_games=GAMES_AT_ONCE,
                    readouts=self.opponent.readouts,
                    search=SEARCH,
                    random_opening=self.random_opening,
                    seed=SEEDS_OF_MATCH * self.examinations + len(played),
                    device=device,
                    stop=stop,
                )
            except MatchStopped:
                return None
            played.append(result)
            all_games = join_results(played)
            forfeits = all_games.forfeits
            valid = without_forfeits(all_games)
            if not valid.games:
                first_fault = forfeits[min(forfeits)]
                raise EngineError(
                    f"{self.opponent.name} played no pair of games without a fault of its own: {first_fault}"
                )
            verdict = TEST.judge(pair_scores(valid.outcomes))
        return valid, forfeits, verdict

    def state(self) -> dict[str, Any]:
        """Return the schedule and the opponent, which `restore` needs, as plain data."""
        names = ("next_at", "examinations", "examined", "ends_run")
        return {"opponent": asdict(self.opponent), **{name: getattr(self, name) for name in names}}

    def restore(self, run: Run, tensors: Mapping[str, torch.Tensor], state: Mapping[str, Any] | None) -> None:
        """Continue the schedule from the saved `state`; begin a new schedule if the opponent has changed."""
        if state is None:
            return
        self.examinations = state["examinations"]
        if Opponent(**state["opponent"]) == self.opponent:
            self.next_at, self.examined, self.ends_run = state["next_at"], state["examined"], state["ends_run"]

    def conclusion(self, longer: str) -> str:
        """Return a sentence for the run's end: where the proof is, or the latest results and how to continue.

        longer: options of `alphago train` that give the run more time.
        """
        name = self.opponent.name
        if self.ends_run:  # the proof is there
            return f"the run ends with its proof that the network is stronger than {name}: {self.folder / PROOF}"
        return (
            f"the run ends without a proof that the network is stronger than {name}{self.matches_clause()}; "
            f"more time may do, as with: {how_to_continue(self.folder, longer)}"
        )

    def matches_clause(self) -> str:
        """Return the results of the latest matches against the opponent as a clause; "" if there were no matches."""
        rows = []
        for row in read_rows(self.folder / EVALUATIONS, "opponent"):
            is_own = (row.get("judge"), row["opponent"]) == (self.name, self.opponent.name)
            is_complete = all(number(row, key) is not None for key in ("win_rate", "low", "high", "played"))
            if is_own and is_complete:
                rows.append(row)
        if not rows:
            return ""
        rates = ", ".join(f"{row['win_rate']:.1%}" for row in rows[-LATEST_MATCHES:])
        last = rows[-1]
        return (
            f": it won {rates} of its latest matches, the last one of {last['played']} games "
            f"(95 % interval {last['low']:.1%} to {last['high']:.1%})"
        )

    def write_proof(self, row: dict[str, Any], result: MatchResult) -> None:
        """Write proof.json: the rules, the match's row of evaluations.jsonl, the test, and the moves of each game.

        row: the match's row.  result: the games that count, from the network's side.
        """
        test = {"elo0": TEST.elo0, "elo1": TEST.elo1, "alpha": TEST.alpha, "beta": TEST.beta}
        proof = {"game": repr(self.env), **self.env.rule_options, **row, "test": test}
        proof |= {"network_has_black_in": "games 0, 2, …", "moves": games_as_text(self.env, result)}
        write_atomic(self.folder / PROOF, (json.dumps(proof, indent=1) + "\n").encode())


WORDS = {
    "accept": "proved to be stronger",
    "reject": "not stronger yet",
    "continue": "undecided",
}


def expectation(metrics: Mapping[str, Any], needed: int, opponent: str) -> str:
    """Return a sentence that estimates when the network will be stronger than the opponent, at the run's speed so far.

    metrics: an iteration's row of metrics.jsonl.
    needed: positions of self-play after which another run proved its network stronger than `opponent`.
    """
    rate = max(metrics["positions"], 1) / metrics["seconds"]
    return (
        f"{rate:.0f} positions a second here; another run was proved to be stronger than {opponent} after "
        f"{needed:,} positions, which would be {needed / rate / 60:.1f} minutes of training"
    )


def join_results(results: list[MatchResult]) -> MatchResult:
    """Join the results of consecutive parts of a match, GAMES_AT_ONCE games each, into one result."""

    def renumbered(parts: Sequence[Mapping[int, str]]) -> dict[int, str]:
        """Return the texts of all parts by the number of the game in the match, instead of in its part."""
        texts: dict[int, str] = {}
        for part, texts_of_part in enumerate(parts):
            texts |= {GAMES_AT_ONCE * part + number: text for number, text in texts_of_part.items()}
        return texts

    return MatchResult(
        outcomes=np.concatenate([result.outcomes for result in results]),
        games=tuple(game for result in results for game in result.games),
        forfeits=renumbered([result.forfeits for result in results]),
        counted=sum(result.counted for result in results),
        disagreements=renumbered([result.disagreements for result in results]),
        symmetries=results[0].symmetries,
    )

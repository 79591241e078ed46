"""Matches during a run against a fixed opponent, until the network is proved to be stronger."""

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from alphago.arena.engine import EngineError
from alphago.arena.match_games import opening_length
from alphago.arena.match_result import MatchResult
from alphago.arena.sprt import Sprt, Verdict, pair_scores
from alphago.env.game import GameEnv
from alphago.mcts.gumbel import Gumbel
from alphago.nn.model_files import fingerprint
from alphago.system import stopwatch
from alphago.system.files import write_atomic
from alphago.training.judge import Judge
from alphago.training.judges.results import AT_ONCE, games_as_text, match_row, play_in_parts, without_forfeits
from alphago.training.run import Run
from alphago.training.runs.config import how_to_continue
from alphago.training.settings.judge_settings import Opponent

# Proving "better than even" against "40 Elo points better": about 60 games at a win rate of 75 %, 200 at 60 %.
TEST = Sprt(0.0, 40.0)
PROOF = "proof.json"
SEARCH = Gumbel()  # evaluates leaves one by one, which is slow; but the opponent takes most of the time anyway


class Examiner(Judge[Run]):
    """The judge that plays matches against an opponent on a schedule and ends the run once the network is stronger.

    Once the proof is there, `ends_run`, an attribute of every Judge, is True.

    Args:
        env: the game of the matches.
        opponent: the opponent and the schedule.
        folder: the run's folder; the judge writes evaluations.jsonl and proof.json there.
    """

    name = "proof"
    saved = ("next_at", "examinations", "examined", "ends_run")

    def __init__(self, env: GameEnv, opponent: Opponent, folder: Path) -> None:
        self.env = env
        self.opponent = opponent
        self.random_opening = opening_length(env) if opponent.random_opening is None else opponent.random_opening
        self.folder = folder
        self.next_at = 60 * opponent.first  # seconds of training from which a match is due; the settings are in minutes
        self.examinations = 0  # number of matches played in the run, also against earlier opponents
        self.examined = ""  # fingerprint of the network in the last match against this opponent
        self.latest_result = ""  # of this call's last match, as it continues the sentence of `conclusion`

    def due(self, run: Run) -> bool:
        """Return whether a match is due: by the schedule, or at the run's end if the last match had another network.

        No match is due once the proof is there.  The schedule waits while the run is on a smaller board of its
        curriculum.
        """
        if self.ends_run:  # the proof is there
            return False
        if run.is_over:
            return self.examined != fingerprint(run.player.state_dict())  # `examined`: the last match's network
        return run.env == self.env and run.clock.seconds >= self.next_at

    def judge(self, run: Run, stop: threading.Event) -> None:
        """Play a match with the run's clock stopped, and log it; raise MatchStopped if `stop` is set before the end."""
        run.checkpoint()  # a match takes long: save the run first
        with run.clock.not_counting(), stopwatch.EXAMINATION:
            self.examine(run, stop)

    def examine(self, run: Run, stop: threading.Event) -> None:
        """Play a match of the network that self-play uses against the opponent, and log it.

        The match ends when the sequential test TEST decides, asked after every AT_ONCE games, or when `most_games`,
        rounded up to a multiple of AT_ONCE, are played.  If an engine forfeits a game, neither that game nor the other
        game with the same opening counts.

        Raises:
            MatchStopped: if `stop` was set before the end; then nothing is logged.
            EngineError: if every pair of games so far has a forfeit when the test is asked.
        """
        began = time.monotonic()
        standing = run.standing  # seconds and counts, from before the match
        result = self.play_match(run, stop)
        decision = self.verdict(result)
        name, forfeits, counted = self.opponent.name, len(result.forfeits), without_forfeits(result)
        row = {
            **standing,
            "judge": self.name,
            "opponent": name,
            "readouts": self.opponent.readouts,
            **match_row(self.env, counted),
            "forfeits": forfeits,
            "sprt": decision.state,
            "log_likelihood_ratio": decision.ratio,
            "match_seconds": time.monotonic() - began,
        }
        run.add_match(row)
        left_out = f"; not counted: {forfeits} games that {name} lost by a fault" if forfeits else ""
        seconds = standing["seconds"]
        run.note(f"after {seconds / 60:.1f} minutes against {name}: {counted}{left_out}; {VERDICTS[decision.state]}")
        self.latest_result = f": {counted}"
        self.examinations += 1
        self.examined = fingerprint(run.player.state_dict())
        self.next_at = max(self.next_at, seconds) + 60 * self.opponent.every  # a late match delays all later ones
        self.ends_run = decision.state == "accept"
        if self.ends_run:
            self.write_proof(row, counted)

    def play_match(self, run: Run, stop: threading.Event) -> MatchResult:
        """Play the match of `examine` and return its result, with the forfeits; raise MatchStopped if `stop` is set."""
        return play_in_parts(
            self.env,
            (run.match_evaluator(run.player, self.env), self.opponent.name),
            games=-(-self.opponent.most_games // AT_ONCE) * AT_ONCE,  # -(-a // b) is a / b, rounded up
            number=self.examinations,
            decided=lambda so_far: self.verdict(so_far).state != "continue",
            readouts=self.opponent.readouts,
            search=SEARCH,
            random_opening=self.random_opening,
            device=run.device,
            stop=stop,
        )

    def verdict(self, result: MatchResult) -> Verdict:
        """Return the sequential test's verdict on the games that count; raise EngineError if there are none."""
        valid = without_forfeits(result)
        if not valid.games:
            first_fault = result.forfeits[min(result.forfeits)]  # the keys are numbers of games
            raise EngineError(f"{self.opponent.name} played no pair of games without a fault of its own: {first_fault}")
        return TEST.judge(pair_scores(valid.outcomes))

    def state(self) -> dict[str, Any]:
        """Return the schedule, and the opponent for which it is, as plain data for `restore`."""
        return {"opponent": asdict(self.opponent), **super().state()}

    def restore(self, run: Run, tensors: Mapping[str, torch.Tensor], state: Mapping[str, Any] | None) -> None:
        """Continue the schedule from the saved `state`; begin a new schedule if the opponent has changed.

        This judge has no tensors.  If `state` is None, the saved run had no opponent to beat.
        """
        if state is None:
            return
        self.examinations = state["examinations"]  # of the whole run; the other values are about one opponent
        if Opponent(**state["opponent"]) == self.opponent:
            self.next_at, self.examined, self.ends_run = state["next_at"], state["examined"], state["ends_run"]

    def conclusion(self, longer: str) -> str:
        """Return a sentence for the run's end: where the proof is, or the latest result and how to continue.

        Args:
            longer: options of `alphago train` that give the run more time.
        """
        name = self.opponent.name
        if self.ends_run:  # the proof is there
            return f"the run ends with its proof that the network is stronger than {name}: {self.folder / PROOF}"
        return (
            f"the run ends without a proof that the network is stronger than {name}{self.latest_result}; "
            f"more time may do, as with: {how_to_continue(self.folder, longer)}"
        )

    def write_proof(self, row: dict[str, Any], result: MatchResult) -> None:
        """Write proof.json: the rules, the match's row of evaluations.jsonl, the test, and the moves of each game.

        Args:
            row: the match's row.
            result: the games that count, from the network's side.
        """
        test = {"elo0": TEST.elo0, "elo1": TEST.elo1, "alpha": TEST.alpha, "beta": TEST.beta}
        proof = {"game": repr(self.env), **self.env.rule_options, **row, "test": test}
        proof |= {"network_has_black_in": "games 0, 2, …", "moves": games_as_text(self.env, result)}
        write_atomic(self.folder / PROOF, (json.dumps(proof, indent=1) + "\n").encode())


VERDICTS = {"accept": "proved to be stronger", "reject": "not stronger yet", "continue": "undecided"}

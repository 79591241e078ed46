"""Is it stronger yet?  Matches during a run against an opponent that does not learn, until it is beaten for sure."""

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from alphago.arena.elo import elo_ratings
from alphago.arena.engine import EngineError
from alphago.arena.match import MatchResult, MatchStopped, evaluate
from alphago.arena.match_games import final_boards
from alphago.arena.sprt import Sprt, Verdict, pair_scores
from alphago.env.game import GameEnv
from alphago.mcts.search import SearchSettings
from alphago.nn.model_files import write_whole
from alphago.nn.net import NeuralNet
from alphago.system.validation import check_float, check_int, checks_keywords
from alphago.training.history import EVALUATIONS, append_row, read_rows

# Proving "better than even" against "40 Elo points better": about 60 games at a win rate of 75 %, 200 at 60 %.
TEST = Sprt(0.0, 40.0)
GAMES_AT_ONCE = 20
TOLD = 5  # win rates of matches, in the run's last sentence
PROOF = "proof.json"
SEARCH = SearchSettings(gumbel=True)  # one leaf at a time: few games, but the opponent takes most of the time


@checks_keywords()
@dataclass(frozen=True)
class Opponent:
    """Whom a run has to beat, and how it is examined.

    name: whom `evaluate` knows under it ("gnugo:10", "rave:1000", "random").
    readouts: simulations of the network per move; 0 plays its policy alone.
    first, every: minutes of training before the first examination, and between two.
    most_games: an examination ends undecided after so many, rounded up to whole twenties.
    random_opening: plies on random points at the start of each pair of games.

    ValueError that names a number which cannot be.
    """

    name: str
    readouts: int = 64
    first: float = 1.0
    every: float = 1.0
    most_games: int = 100
    random_opening: int = 2

    def __post_init__(self) -> None:
        # As Python's own numbers: numpy's could not be saved in the run's config.
        for name, least in (("readouts", 0), ("most_games", 1), ("random_opening", 0)):
            object.__setattr__(self, name, check_int(f"an opponent's {name}", getattr(self, name), least))
        for name in ("first", "every"):
            object.__setattr__(self, name, check_float(f"an opponent's {name}", getattr(self, name), 0))


class Examiner:
    """Examines a run's network on a schedule, in `evaluations.jsonl`, and keeps the proof once there is one."""

    def __init__(
        self, env: GameEnv, opponent: Opponent, folder: Path, told: Callable[[str], Any], device: str = "cpu"
    ) -> None:
        self.env = env
        self.device = device
        self.opponent = opponent
        self.folder = folder
        self.told = told
        self.next_at = 60 * opponent.first
        self.examinations = 0
        self.examined = ""  # the fingerprint of the network that was examined last
        self.proved = False

    def due(self, seconds: float) -> bool:
        """Whether an examination is due after so many seconds of training."""
        return seconds >= self.next_at

    def examine(self, net: NeuralNet, seconds: float, games: int, stop: threading.Event) -> bool | None:
        """Plays until the test decides; True if the network is better than the opponent, None if `stop` came before.

        Games that an engine lost by a fault of its own prove nothing: they count for neither side, nor do those
        that share their openings.  EngineError if it plays no pair of games without a fault.
        """
        began = time.monotonic()
        played: list[MatchResult] = []
        verdict = Verdict("continue", 0.0, 0)
        while verdict.state == "continue" and len(played) * GAMES_AT_ONCE < self.opponent.most_games:
            try:
                result = evaluate(
                    self.env, net, self.opponent.name, GAMES_AT_ONCE, self.opponent.readouts, search=SEARCH,
                    random_opening=self.opponent.random_opening, seed=1000 * self.examinations + len(played),
                    device=self.device, stop=stop,
                )  # fmt: skip
            except MatchStopped:
                return None
            played.append(result)
            everything = together(played)
            forfeits, whole = everything.forfeits, without_forfeits(everything)
            if not whole.games:
                why = min(forfeits.items())[1]
                raise EngineError(f"{self.opponent.name} played no pair of games without a fault of its own: {why}")
            verdict = TEST.judge(pair_scores(whole.outcomes))
        low, high = whole.interval
        row = {
            "seconds": seconds, "games": games, "opponent": self.opponent.name, "readouts": self.opponent.readouts,
            "played": len(whole.games), "forfeits": len(forfeits), "distinct": whole.distinct,
            "wins": whole.wins, "draws": whole.draws, "losses": whole.losses, "win_rate": whole.win_rate,
            "low": low, "high": high, **told_of(self.env, whole), "sprt": verdict.state,
            "log_likelihood_ratio": verdict.ratio, "match_seconds": time.monotonic() - began,
        }  # fmt: skip
        append_row(self.folder / EVALUATIONS, row)
        left_out = f"; not counted: {len(forfeits)} games that {self.opponent.name} lost by a fault" if forfeits else ""
        self.told(
            f"after {seconds / 60:.1f} minutes against {self.opponent.name}: {whole}{left_out}; {WORDS[verdict.state]}"
        )
        self.examinations += 1
        self.next_at = max(self.next_at + 60 * self.opponent.every, seconds + 60 * self.opponent.every)
        self.proved = verdict.state == "accept"
        if self.proved:
            self.keep(row, whole)
        return self.proved

    def state(self) -> dict[str, Any]:
        """Where the schedule stands, as plain data."""
        kept = {name: getattr(self, name) for name in ("next_at", "examinations", "examined", "proved")}
        return {"opponent": asdict(self.opponent), **kept}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on with the schedule where it stood; another opponent has a new one."""
        self.examinations = state["examinations"]
        if Opponent(**state["opponent"]) == self.opponent:
            self.next_at, self.examined, self.proved = state["next_at"], state["examined"], state["proved"]

    def conclusion(self, longer: str) -> str:
        """How the run ended: with its proof, or what its latest matches said, and how to go on.

        longer: options of `alphago train` with which it has more time.
        """
        name = self.opponent.name
        if self.proved:
            return f"the run ends with its proof that the network is stronger than {name}: {self.folder / PROOF}"
        return (
            f"the run ends without a proof that the network is stronger than {name}{self.matches()}; more time may do, "
            f"as with: alphago train --folder {self.folder} {longer}"
        )

    def matches(self) -> str:
        """What the latest matches against the opponent said, as the end of a sentence."""
        path = self.folder / EVALUATIONS
        rows = read_rows(path, "opponent") if path.is_file() else []
        rows = [row for row in rows if row["opponent"] == self.opponent.name]
        if not rows:
            return ""
        rates, last = ", ".join(f"{row['win_rate']:.1%}" for row in rows[-TOLD:]), rows[-1]
        return (
            f": it won {rates} of its latest matches, the last one of {last['played']} games "
            f"(95 % interval {last['low']:.1%} to {last['high']:.1%})"
        )

    def keep(self, row: dict[str, Any], result: MatchResult) -> None:
        """Writes proof.json: the examination, and every game that counted as its moves."""
        texts = [" ".join(self.env.to_text(action) for action in game) for game in result.games]
        games = [{"outcome": float(o), "moves": m} for o, m in zip(result.outcomes, texts, strict=True)]
        test = {"elo0": TEST.elo0, "elo1": TEST.elo1, "alpha": TEST.alpha, "beta": TEST.beta}
        proof = {"game": repr(self.env), **self.env.rule_options, **row, "test": test}
        proof |= {"network_has_black_in": "games 0, 2, …", "moves": games}
        write_whole(self.folder / PROOF, (json.dumps(proof, indent=1) + "\n").encode())


WORDS = {
    "accept": "proved to be stronger",
    "reject": "not stronger yet",
    "continue": "undecided",
}


def expectation(metrics: Mapping[str, Any], needed: int, opponent: str) -> str:
    """When the network should be stronger than the opponent, at the run's speed so far.

    needed: positions of self-play after which another run was proved to be.
    """
    rate = max(metrics["positions"], 1) / metrics["seconds"]
    return (
        f"{rate:.0f} positions a second here; another run was proved to be stronger than {opponent} after "
        f"{needed:,} positions, which would be {needed / rate / 60:.1f} minutes of training"
    )


def told_of(env: GameEnv, result: MatchResult) -> dict[str, float]:
    """The network's Elo above the opponent with its 95 % interval; where stones are taken, score and captures too."""
    points = result.win_rate * len(result.games)
    rating, _ = elo_ratings(np.array([[0, points], [len(result.games) - points, 0]]), anchor=1)
    told = {"elo": rating.elo, "elo_low": rating.low, "elo_high": rating.high}
    return told | final_boards(env.match_variant(), result.games)._asdict() if env.has_captures else told


def together(results: list[MatchResult]) -> MatchResult:
    """One result of several parts of a match, all of an even number of games."""
    return MatchResult(
        np.concatenate([result.outcomes for result in results]),
        tuple(game for result in results for game in result.games),
        {GAMES_AT_ONCE * part + n: why for part, result in enumerate(results) for n, why in result.forfeits.items()},
        sum(result.counted for result in results),
        {
            GAMES_AT_ONCE * part + n: why
            for part, result in enumerate(results)
            for n, why in result.disagreements.items()
        },
        results[0].symmetries,
    )


def without_forfeits(result: MatchResult) -> MatchResult:
    """The pairs of games in which no engine failed, numbered anew."""
    spoilt = {number // 2 for number in result.forfeits}
    kept = [number for number in range(len(result.games)) if number // 2 not in spoilt]
    return replace(
        result,
        outcomes=result.outcomes[kept],
        games=tuple(result.games[number] for number in kept),
        forfeits={},
        counted=min(result.counted, len(kept)),  # an engine counts all games that it finishes, or none
        disagreements={i: result.disagreements[n] for i, n in enumerate(kept) if n in result.disagreements},
    )

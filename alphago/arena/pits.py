"""Pits: matches between two values of a search setting, saved in a folder from which they can be resumed."""

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from alphago.arena.entrant import Entrant
from alphago.arena.identity import as_saved, hashed_folder, open_folder
from alphago.arena.match import MatchResult
from alphago.arena.players import PlayerSource, resolve_player
from alphago.arena.sprt import Verdict
from alphago.arena.tournament import ProgressListener, Tournament, TournamentSettings
from alphago.arena.tuned_values import text_of
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import as_network
from alphago.mcts.rule import SearchSettings
from alphago.mcts.search_forms import plain_form
from alphago.nn.model_files import fingerprint
from alphago.system.files import parse_json, read_named, user_path, write_atomic
from alphago.workers.jobs import JobPool

LOG = "pits.jsonl"


class Pit(NamedTuple):
    """A match between two values of a search setting: a candidate, and the champion at that time.

    candidate, champion: the values.
    result: the result of the finished pairs of games, from the candidate's view.
    verdict: the sequential test's verdict.  Its state is "accept" if the candidate is stronger, "reject" if the
        candidate is not stronger by the tested difference, and "continue" if the games leave this open.
    """

    candidate: Any
    champion: Any
    result: MatchResult
    verdict: Verdict


@dataclass(frozen=True)
class PitPlan:
    """The arguments of a tuning that determine its games, except the values.

    env: the game.
    name: the name of the search setting that is tuned.
    search: the other settings of the search.
    readouts: simulations per move.
    settings: the settings of the matches.
    """

    env: GameEnv
    name: str
    search: SearchSettings
    readouts: int
    settings: TournamentSettings

    def identity(self, weights: str) -> dict[str, Any]:
        """Return the plan as data for JSON.

        weights: the digest of the network's weights.
        """
        search = {key: value for key, value in plain_form(self.search).items() if key != self.name}
        game = {"game": self.env.name, **self.env.rule_options}
        network = {"weights": weights, "readouts": self.readouts}
        return as_saved({"tuned": self.name, **network, **game, **search, **asdict(self.settings)})


class PitFolder:
    """The folder of a tuning, which plays the pits and saves them.

      tuning.json     the tuning's `PitPlan.identity`
      pits.jsonl      one row for each finished pit
      pits/A-B/       the games of value A against value B, a `ResultFolder`

    A game is saved when it ends, and a row is saved when its pit ends.
    """

    def __init__(self, plan: PitPlan, network: object, folder: str | Path | None, device: str) -> None:
        """Open the folder, or create it.

        network: a NeuralNet, its name, file or run folder, or an evaluator.
        folder: the path; None for a folder in `runs` whose name has a digest of `PitPlan.identity`.
        device: "cpu", "cuda" or "auto".
        Raises ValueError for a folder with other contents, and for a network that cannot be searched.
        """
        self.plan = plan
        network = as_network(network, plan.env)
        self.network = network
        self.player: PlayerSource = resolve_player(network, plan.env, device)
        if not hasattr(self.player, "evaluate"):
            raise ValueError(f"network must be one that can be searched, got {network!r}")
        self.weights = fingerprint(network.state_dict()) if hasattr(network, "state_dict") else ""
        identity = plan.identity(self.weights)
        if folder is None:
            folder = hashed_folder(f"tune-{plan.name}", identity)
        self.path = user_path(folder)
        open_folder(self.path / "tuning.json", identity, "a tuning")
        self.rows = self._earlier_rows()

    def play(self, candidate: Any, champion: Any, listener: ProgressListener, pool: JobPool | None = None) -> Pit:
        """Play the missing games of the pit between two values, and return the pit.

        candidate, champion: the values.  listener: an object whose methods are called for each game.
        pool: the workers that play; None for threads of this process.
        """
        plan = self.plan
        entrants = [
            Entrant(
                self.player,
                plan.readouts,
                search=replace(plan.search, **{plan.name: value}),
                name=f"{plan.name} {text_of(value)}",
                weights=self.weights,
                network=self.network,
            )
            for value in (candidate, champion)
        ]
        folder = self.path / "pits" / f"{text_of(candidate)}-{text_of(champion)}"
        tournament = Tournament(plan.env, entrants, plan.settings, folder)
        tournament.play(listener, pool)
        undecided = Verdict("continue", ratio=0.0, samples=0)
        verdict = tournament.verdict((0, 1)) or undecided  # there is no verdict without a test
        return Pit(candidate, champion, tournament.result((0, 1)), verdict)

    def save(self, pits: Sequence[Pit]) -> None:
        """Write a row for each of `pits` to pits.jsonl; rows of earlier calls about other pairs of values are kept."""
        rows = {
            (pit.candidate, pit.champion): {
                "candidate": pit.candidate,
                "champion": pit.champion,
                "games": len(pit.result.games),
                **{name: getattr(pit.result, name) for name in ("wins", "draws", "losses", "win_rate", "interval")},
                "verdict": pit.verdict.state,
                "ratio": pit.verdict.ratio,
                "pairs": pit.verdict.samples,
            }
            for pit in pits
        }
        data = "".join(json.dumps(row) + "\n" for row in {**self.rows, **rows}.values())
        write_atomic(self.path / LOG, data.encode())

    def _earlier_rows(self) -> dict[tuple[Any, Any], dict[str, Any]]:
        """Return the rows of pits.jsonl, by (candidate, champion); lines that cannot be parsed are left out."""
        path = self.path / LOG
        rows = {}
        lines = read_named(path).splitlines() if os.path.lexists(path) else []
        for line in lines:
            with contextlib.suppress(ValueError, KeyError, TypeError):
                row = dict(parse_json(line))
                rows[row["candidate"], row["champion"]] = row
        return rows

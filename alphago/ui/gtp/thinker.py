"""`Thinker`: an engine's search, for moves, analysis and pondering."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alphago.env.devices import choose_device
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.mcts.analysis_result import Analysis
from alphago.mcts.analysis_search import AnalysisSearch, Forbidden, usable
from alphago.mcts.player import MCTSPlayer
from alphago.mcts.rule import SearchSettings, without_rash_passes
from alphago.ui.gtp.background import BackgroundSearch

WARM_UP = 8  # readouts of the searches that compile kernels and measure the first rate
WAVE = 16  # readouts between two readings of the clock in a search with reports


@dataclass
class Reports:
    """What is reported during the search for a move: `report` is called with the analysis every `interval` seconds.

    move_ownership: whether the analysis has the ownership after each move.
    """

    report: Callable[[Analysis], None]
    interval: float
    move_ownership: bool = False


class Thinker:
    """Searches with one network on one board; the tree is kept when the game continues.

    readouts: simulations for each move; 0 plays the network's most probable action without search.
    settings, resign_threshold, seed, device: as in `MCTSPlayer`.
    background: runs the searches that last until the controller's next command. now: returns the time in seconds.
    """

    def __init__(
        self,
        env: GoEnv,
        network: Any,
        readouts: int,
        *,
        settings: SearchSettings | None,
        resign_threshold: float | None,
        seed: int | None,
        device: str,
        background: BackgroundSearch,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.readouts = readouts
        self.now = now
        self.background = background
        self.options: dict[str, Any] = {"two_player_mode": True, "settings": settings, "seed": seed, "device": device}
        self.options["resign_threshold"] = resign_threshold
        # On a GPU, searches for moves keep their boards there; analysis needs them on the CPU.
        self.on_cpu = device == "cpu" or (device == "auto" and choose_device(env) == "cpu")
        self.player = MCTSPlayer(env, network, max(1, readouts), forecasts=self.on_cpu, **self.options)
        self._analyst = self.player if self.on_cpu else None
        self.evaluate(env.position())
        self.player.tree_search(WARM_UP)  # compiles kernels, before any clock runs
        begin = self.now()
        self.player.tree_search(WARM_UP)
        self.rate = WARM_UP / max(self.now() - begin, 1e-6)  # readouts a second
        self.player.initialize_game()

    @property
    def analyst(self) -> MCTSPlayer:
        """The player used for analysis: the same one on the CPU, a second one with a GPU."""
        if self._analyst is None:
            self._analyst = MCTSPlayer(self.player.env, self.player.network, 1, forecasts=True, **self.options)
        return self._analyst

    @property
    def has_forecasts(self) -> bool:
        """Whether the network forecasts score and ownership."""
        search = self.analyst.search
        return isinstance(search, AnalysisSearch) and search.has_forecasts

    def set_resign_threshold(self, value: float) -> None:
        """Set the value below which the engine resigns."""
        self.background.join()
        self.options["resign_threshold"] = self.player.resign_threshold = self.analyst.resign_threshold = value

    def look(self, position: GoPosition) -> Analysis:
        """Return the analysis of a position from the search that `analyst` has done there, without searching more."""
        self.catch_up(position, player=self.analyst)
        return self.analyst.analysis()

    def catch_up(self, position: GoPosition, rules: Sequence[Forbidden] = (), player: MCTSPlayer | None = None) -> None:
        """Set a player (default: `self.player`) to a position; keep the tree if the position continues its game.

        rules: moves that the search must not try.
        """
        self.background.join()
        player = player or self.player
        before, rules = player.position, usable(rules)
        same = before.setup == position.setup and position.moves[: len(before.moves)] == before.moves
        if player.forbidden == rules and same and (position.moves == before.moves or not rules):
            for action in position.moves[len(before.moves) :]:
                player.play_move(action)
        else:
            player.initialize_game(position, rules)

    def think(
        self,
        position: GoPosition,
        seconds: float,
        *,
        rules: Sequence[Forbidden] = (),
        may_resign: bool = True,
        reports: Reports | None = None,
    ) -> int | None:
        """Return the action to play, or None to resign.

        seconds: time limit of the search. rules: moves that the search must not try.
        may_resign: whether resigning is allowed. reports: what to report during the search; None for nothing.
        """
        player = self.player if reports is None and not rules else self.analyst
        self.catch_up(position, rules, player)
        readouts = int(min(self.readouts, self.rate * seconds))
        if readouts == 0:
            action, value = self.evaluate(position, rules)
            if reports is not None:
                reports.report(player.analysis(move_ownership=reports.move_ownership))
            return None if may_resign and player.should_resign(value) else action
        begin, before = self.now(), max(1, player.root_visits)
        player.num_readouts = readouts
        action = player.suggest_move() if reports is None else self.think_aloud(player, readouts, reports)
        done = player.root_visits - before  # fewer than planned if the choice was certain before
        if done:
            self.rate = (self.rate + done / max(self.now() - begin, 1e-6)) / 2
        return None if may_resign and player.should_resign() else action

    def think_aloud(self, player: MCTSPlayer, readouts: int, reports: Reports) -> int:
        """Return the action of a search of `readouts` simulations, with reports during it and one at its end."""
        due = time.monotonic() + reports.interval
        while readouts > 0:
            player.tree_search(min(WAVE, readouts))
            readouts -= WAVE
            if time.monotonic() >= due and readouts > 0:
                due = time.monotonic() + reports.interval
                reports.report(player.analysis(move_ownership=reports.move_ownership))
        reports.report(player.analysis(move_ownership=reports.move_ownership))
        return player.pick_move()

    def analyse(
        self,
        position: GoPosition,
        rules: Sequence[Forbidden],
        report: Callable[[Analysis], None] | None = None,
        interval: float = 1.0,
        move_ownership: bool = False,
    ) -> None:
        """Search the position in the background until the next command, with a report every `interval` seconds.

        rules: moves that the search must not try. report: called with the analysis; None for no reports.
        move_ownership: as in `Reports`.
        """
        self.catch_up(position, rules, self.analyst)
        player = self.analyst
        tell = None if report is None else lambda: report(player.analysis(move_ownership=move_ownership))
        self.background.start(player, tell, interval)

    def ponder(self, position: GoPosition) -> None:
        """Search the position in the background until the next command; the search for the next move keeps the tree."""
        self.catch_up(position)
        self.background.start(self.player)

    def forget(self) -> None:
        """Clear the trees."""
        self.background.join()
        self.player.initialize_game()
        self.analyst.initialize_game()

    def evaluate(self, position: GoPosition, rules: Sequence[Forbidden] = ()) -> tuple[int, float]:
        """Return the network's most probable action, and its value of the position from the mover's view.

        The action is neither a move that `rules` forbid nor a pass that would lose a won game.
        """
        self.background.join()
        evaluator = self.player.search.evaluator
        priors, values = np.empty((1, position.env.action_space), np.float32), np.empty(1, np.float32)
        evaluator.evaluate(position.batch, np.zeros(1, np.int64), priors, values)
        priors = np.where(position.legal_mask, priors, 0)
        out = [action for rule in rules if rule.player == position.to_play for action in rule.actions]
        if np.delete(priors, out).any():
            priors[0, out] = 0
        outcomes = np.array([position.to_play * position.outcome])
        return int(without_rash_passes(position.env, priors, values, outcomes)[0].argmax()), float(values[0])

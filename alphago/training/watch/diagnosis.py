"""Diagnose faults of a run from its metrics, with the numbers that show a fault and what helps.

`diagnose` examines rows of metrics.jsonl; `Diagnosis` examines a run in progress and reports each fault once.  The
table of faults is diagnosis.toml.
"""

import tomllib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from alphago.system.settings import to_data
from alphago.training.history import Row, limits, mean_over_time, number
from alphago.training.recipes import FEW_GAMES, OTHER_GAMES, RECIPES
from alphago.training.runs.config import flat_settings
from alphago.training.settings.run_settings import RunSettings

RECENT_ROWS = 20  # iterations to average over, since a single iteration is noise
FEWEST_ROWS = RECENT_ROWS // 2
SETTLED = 30.0  # seconds after which the use of the processor and the speed of a run are judged
JUDGED_GAMES = 64  # games to average over; a side that wins 80 % of all games wins 95 % of 64 with p < 0.001
# A game ends by two passes.  Other passes are 0.03 of the moves in sound 7x7 runs, 0.2 in collapsed runs.
ENDING_PASSES = 2
NEEDLESS_PASSES = 0.15
FEWEST_ENDING_PASSES = 1.5  # mean passes of a game from which games count as ended by passes, not by resignation
# Sound runs vary by a third when rules or komi change.
SHORT_GAMES = 0.5
PERSISTENCE = 3  # iterations in a row with a fault before it is reported, unless the table says otherwise
ROWS = 500  # iterations kept, enough to compare the length of games with that of earlier games
# Defaults of settings, some of which recipes leave out.
DEFAULTS = flat_settings({"settings": to_data(RunSettings())})
Values = dict[str, Any]  # values of metrics, and others computed from them, by their names in diagnosis.toml


class Recent:
    """Averages of metrics over the latest iterations of a run, and checks for faults; diagnosis.toml names the methods.

    The averages are None if the metric is unknown: if no row has it, or for most of them, if fewer than FEWEST_ROWS
    rows have it.

    Args:
        rows: the run's rows of metrics.jsonl, oldest first.
        settings: the run's settings by name, see `flat_settings`.
    """

    def __init__(self, rows: Sequence[Row], settings: Mapping[str, Any]) -> None:
        self.settings = settings
        self.rows = rows[-RECENT_ROWS:]  # "the recent rows"
        # Whether the recent rows are those of the whole run so far.
        self.is_whole = bool(rows) and number(rows[0], "iteration") == 1 and len(rows) <= RECENT_ROWS
        # The latest rows of iterations that took gradient steps, which may be older than the recent rows.
        self.trained = [row for row in rows if number(row, "policy_loss") is not None][-RECENT_ROWS:]
        self.game_blocks = game_blocks(rows)

    def latest(self, key: str) -> float | None:
        """Return a metric's newest value; None if no recent row has the metric."""
        return next(reversed(numbers(self.rows, key)), None)

    def mean(self, key: str) -> float | None:
        """Return a metric's mean over the latest RECENT_ROWS iterations that took gradient steps."""
        values = numbers(self.trained, key)
        return sum(values) / len(values) if len(values) >= FEWEST_ROWS else None

    def growth(self, key: str) -> float | None:
        """Return the increase of a cumulative count from the oldest to the newest recent row."""
        values = numbers(self.rows, key)
        return values[-1] - values[0] if len(values) >= FEWEST_ROWS else None

    def selfplay_share(self) -> float | None:
        """Return self-play's share of the time in the recent rows; None if some of them are from before training.

        Before training has begun, self-play has all the time, and training is not starved.
        """
        if not self.rows or not number(self.rows[0], "steps"):
            return None
        return mean_over_time(self.rows, "selfplay_share")

    def processor_share(self) -> float | None:
        """Return the share of the recent rows' time in which the threads worked; None for less than SETTLED seconds."""
        # A row counts for the time since the row before; the run's first iteration began at 0.
        rows = [{"seconds": 0.0}, *self.rows] if self.is_whole else self.rows
        times = numbers(rows, "seconds")
        return mean_over_time(rows, "processor_share") if times and times[-1] - times[0] >= SETTLED else None

    def training_share(self) -> float | None:
        """Return training's share of the time, as `selfplay_share`."""
        share = self.selfplay_share()
        return None if share is None else 1 - share

    def white_wins(self) -> float | None:
        """Return the share of games that White won, as `of_games`."""
        black, draws = self.of_games("black_wins"), self.of_games("draws")
        return None if black is None or draws is None else 1 - black - draws

    def of_games(self, key: str, block: int = 0) -> float | None:
        """Return a metric's mean over the games of a block of iterations; None if the block or the metric is missing.

        Args:
            block: the block's index in `game_blocks`, 0 for the latest games.
        """
        if block >= len(self.game_blocks):
            return None
        pairs = [(value, games) for row, games in self.game_blocks[block] if (value := number(row, key)) is not None]
        if not pairs:
            return None
        return sum(value * games for value, games in pairs) / sum(games for _, games in pairs)

    def games(self) -> str:
        """Return the number of games in the latest block as text, such as "64 games".

        There must be a block.  Without one, no rule of diagnosis.toml calls this method: a metric that the rule names
        before "games" is None, which ends the rule.
        """
        return f"{sum(games for _, games in self.game_blocks[0]):.0f} games"

    def progress(self) -> float:
        """Return the share of the run's games or minutes that is over, whichever is larger; 0 without a limit.

        At the run's end it is about 1.
        """
        row = self.rows[-1] if self.rows else {}
        return max((spent / limit for spent, limit in limits(self.settings, row).values()), default=0.0)

    # --- checks beyond limits ---
    # Each gets the values of its rule's metrics, and returns further values for the rule's limits and sentences, by
    # name.  It returns None if there is no fault.

    def pass_collapse(self, passes: float, length: float, games: str) -> Values | None:
        """Check for many needless passes, and for games that became much shorter and end by passes.

        Args:
            passes: share of passes among the moves.
            length: mean number of moves of a game.
            games: the number of games as text.

        Returns:
            The evidence, by the name "change".
        """
        # The two passes that end a game are ENDING_PASSES / length of its moves; `passes * length` is passes per game.
        if passes - ENDING_PASSES / max(length, 1) > NEEDLESS_PASSES:
            return {"change": f"{passes:.0%} of the moves are passes, over {games} of {length:.0f} moves on average"}
        longest = max(self.of_games("game_length", block) or 0 for block in range(len(self.game_blocks)))
        if length < SHORT_GAMES * longest and passes * length > FEWEST_ENDING_PASSES:
            return {"change": f"games fell from {longest:.0f} to {length:.0f} moves and end by passes, over {games}"}
        return None

    def lowest_entropy(self, policy: float, target: float, progress: float) -> Values:
        """Return the lower of two entropies.

        `progress` is not used here: Rule passes all values, and compares this one with its limit in diagnosis.toml.
        """
        return {"lowest": min(policy, target)}

    def window_age(self, window: float, positions: float, growth: float) -> Values | None:
        """Return the share of all positions that are in memory, and the number of iterations they are from.

        Args:
            window: number of positions in memory.
            positions: number of positions of the run.
            growth: how many of these were added in the recent rows.
        """
        if not growth or not positions:
            return None
        # One iteration added growth / (number of rows - 1) positions on average.
        return {"share": window / positions, "iterations": window * (len(self.rows) - 1) / growth}

    def value_overfit(self, trained: float, fresh: float, games: float) -> Values | None:
        """Compare the value's error on new games (`fresh`) with that on training samples (`trained`).

        `games` is not used here: Rule passes all values, and compares this one with its limit in diagnosis.toml.

        Returns:
            The difference and the ratio of the errors, and a clause `beside` for the rule's evidence.
        """
        if "kind" in self.settings.get("memory", {}):  # not the usual window of games, see `flat_settings`
            return None  # it may train on mean results, whose error is smaller than that of a new game's result
        variance = self.mean("value_variance")
        beside = "" if variance is None else f"; the results' variance is {variance:.2f}"
        return {"gap": fresh - trained, "ratio": fresh / max(trained, 1e-9), "beside": beside}

    def dead_value(self, correlation: float, steps: float) -> Values | None:
        """Return the size of the correlation of values and results; None if the value is not trained.

        `steps` is not used here: Rule passes all values, and compares this one with its limit in diagnosis.toml.
        """
        is_trained = self.settings.get("losses", {}).get("value") != 0
        return {"size": abs(correlation)} if is_trained else None

    def busy_processor(self, worked: float, used: float, games: float) -> Values | None:
        """Return what the run would have had if other programs had not taken processor time from its threads.

        With a GPU there is no fault, since threads wait for the GPU.

        Args:
            worked: processor time as a share of the threads' time.
            used: seconds of processor time.
            games: number of games.

        Returns:
            The seconds of processor time and the games of a run that has the processor alone.
        """
        if self.latest("gpu_busy") is not None:
            return None
        share = max(worked, 1e-9)  # no division by 0
        return {"seconds_alone": used / share, "games_alone": games / share}

    def untrained(self, steps: float, positions: float, seconds: float, progress: float) -> Values | None:
        """Check for a run that will end before it has the positions (`start_training_after`) from which it is trained.

        Args:
            steps, positions, seconds: what the run has so far.
            progress: the share of the run that is over; so much of the final number of positions is there.

        Returns:
            The setting's value, the positions expected at the run's end, and how many times as many are needed.
        """
        least = number({**DEFAULTS, **self.settings}, "start_training_after") or 0.0
        # Training has begun; or the run is too young to judge its speed, or has no limit (`progress` is 0); or the
        # memory is not the window that has this setting.
        if steps or seconds < SETTLED or not progress or "kind" in self.settings.get("memory", {}):
            return None
        expected = positions / progress
        longer = least / max(expected, 1.0)
        return {"least": least, "expected": expected, "longer": longer} if longer > 1 else None

    def skipped_share(self, skipped: float, steps: float) -> Values:
        """Return the number of all recent gradient steps, taken or skipped, and the share of skipped ones."""
        return {"all": steps + skipped, "share": skipped / max(steps + skipped, 1)}


def numbers(rows: Sequence[Row], key: str) -> list[float]:
    """Return the values of a metric in the rows that have it."""
    return [value for row in rows if (value := number(row, key)) is not None]


def games_a_second(rows: Sequence[Row]) -> float:
    """Return the games a second in the RECENT_ROWS latest rows, since no game ends in some; 0 if they are unknown."""
    first, last = (rows[-min(len(rows), RECENT_ROWS)], rows[-1]) if rows else ({}, {})
    seconds, games = ((number(last, key) or 0) - (number(first, key) or 0) for key in ("seconds", "games"))
    return games / seconds if seconds > 0 else 0.0


def game_blocks(rows: Sequence[Row]) -> list[list[tuple[Row, float]]]:
    """Group rows into blocks of at least JUDGED_GAMES finished games, newest block and newest row first.

    Each block is a list of pairs: a row, and the number of games finished in its iteration.  Iterations before the
    first gradient step are left out, and so is an oldest block that is not complete.
    """
    blocks: list[list[tuple[Row, float]]] = []
    block: list[tuple[Row, float]] = []
    for row, before in pairwise(reversed(rows)):  # `before`: the row of the iteration before
        if not number(before, "steps"):
            break
        finished = (number(row, "games") or 0) - (number(before, "games") or 0)
        if finished > 0:
            block.append((row, finished))
        if sum(games for _, games in block) >= JUDGED_GAMES:
            blocks.append(block)
            block = []
    return blocks


@dataclass(frozen=True)
class Finding:
    """A fault of a run, in words that fit a run in progress and one that is over.

    Attributes:
        what: the fault's name.
        evidence: the numbers that show it.
        remedy: what helps.
        persistence: number of iterations in a row that must have the fault before it is reported.
    """

    what: str
    evidence: str
    remedy: str
    persistence: int = PERSISTENCE

    def __str__(self) -> str:
        return f"{self.what}: {self.evidence}; {self.remedy}"


# --- the table -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """A row of diagnosis.toml: how a fault is found, and what helps.

    Attributes:
        what: the fault's name.
        metrics: the values that are read: by a name for the other fields, a method of `Recent` and its argument.
        evidence: a format string of the values, which shows the fault.
        least, below: limits of values by name: a fault has all values at least as large, and smaller.
        method: the name of a method of `Recent` that gets the values and adds others, or finds that there is no fault.
        advice: what helps, by setting; it is told of settings whose values are not those of the nearest recipe.
        otherwise: what helps if there is no such advice.
        always: what helps in any case.
        selfplay: whether only a run of self-play can have the fault.
        persistence: as in Finding.
    """

    what: str
    metrics: Mapping[str, str]
    evidence: str
    least: Mapping[str, float] = field(default_factory=dict)
    below: Mapping[str, float] = field(default_factory=dict)
    method: str = ""
    advice: Mapping[str, str] = field(default_factory=dict)
    otherwise: str = ""
    always: str = ""
    selfplay: bool = False
    persistence: int = PERSISTENCE

    def __call__(self, recent: Recent) -> Finding | None:
        """Return the fault, or None if a run does not have it."""
        values: Values = {}
        for name, metric in self.metrics.items():
            reader, *arguments = metric.split()  # such as "mean value_loss", or "games"
            values[name] = getattr(recent, reader)(*arguments)
            if values[name] is None:  # the run has no such number, or not yet
                return None
        if self.method:  # a further check, which returns more values
            more: Values | None = getattr(recent, self.method)(**values)
            if more is None:  # there is no fault
                return None
            values |= more
        is_fault = all(values[name] >= limit for name, limit in self.least.items())
        is_fault = is_fault and all(values[name] < limit for name, limit in self.below.items())
        if not is_fault:
            return None
        return Finding(self.what, self.evidence.format(**values), self.remedy(recent.settings), self.persistence)

    def remedy(self, settings: Mapping[str, Any]) -> str:
        """Return what helps a run with these settings.

        There is advice only about settings that differ from those of the nearest recipe.
        """
        recipe = nearest_recipe(settings)
        changed = [name for name in self.advice if name in settings and settings[name] != recipe.get(name)]
        advice = ", or ".join(self.advice[name] for name in changed) or self.otherwise
        return "; ".join(filter(None, (advice, self.always)))


def nearest_recipe(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of the packaged recipe that agrees best with a run's; those it leaves out are DEFAULTS."""
    recipes = [recipe.settings_on(device) for recipe in (*RECIPES.values(), OTHER_GAMES) for device in ("cpu", "cuda")]

    def likeness(recipe: Mapping[str, Any]) -> float:
        """Return the share of a recipe's settings that the run has too."""
        return sum(settings.get(name) == value for name, value in recipe.items()) / len(recipe)

    # FEW_GAMES: the settings of a run of few games.  Of equally near ones, the first is taken.
    nearest = max([FEW_GAMES, *recipes], key=likeness)
    return {**DEFAULTS, **nearest}


TABLE = [Rule(**row) for row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["rule"]]
OF_THE_END = ("exploded loss", "starved processor")  # faults that the run's last network suffers from


def diagnose(rows: Sequence[Row], settings: Mapping[str, Any]) -> list[Finding]:
    """Return the faults that a run has at the end of `rows`.

    A rule whose metrics or settings are missing finds nothing.  Rules about games find nothing until a trained network
    has played JUDGED_GAMES games.  For a run on given games, rules about self-play do not apply.

    Args:
        rows: rows of metrics.jsonl, oldest first.
        settings: the run's settings by name, see `flat_settings`.
    """
    recent = Recent(rows, settings)
    has_selfplay = bool(numbers(recent.rows, "selfplay_share"))
    rules = [rule for rule in TABLE if has_selfplay or not rule.selfplay]
    return [finding for rule in rules if (finding := rule(recent)) is not None]


class Diagnosis:
    """The faults of a run in progress; each is reported once, after as many iterations in a row as its `persistence`.

    Args:
        settings: the run's settings by name, see `flat_settings`.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings
        self.rows: deque[Row] = deque(maxlen=ROWS)
        self.iterations_with: dict[str, int] = {}  # number of latest iterations in a row with each fault
        self.reported: set[str] = set()  # names of faults

    def remember(self, rows: Sequence[Row]) -> None:
        """Add the metrics of earlier iterations, oldest first; the faults at their end count as reported."""
        self.rows.extend(rows)
        self.reported.update(finding.what for finding in self._find())

    def update(self, row: Row) -> list[Finding]:
        """Add the metrics of one more iteration; return the findings to report now."""
        self.rows.append(row)
        findings = self._find()
        self.iterations_with = {finding.what: self.iterations_with.get(finding.what, 0) + 1 for finding in findings}
        lasting = [finding for finding in findings if self.iterations_with[finding.what] >= finding.persistence]
        news = [finding for finding in lasting if finding.what not in self.reported]
        self.reported.update(finding.what for finding in news)
        return news

    def _find(self) -> list[Finding]:
        """Return the faults that the run has now."""
        return diagnose(list(self.rows), self.settings)

    def final(self) -> list[Finding]:
        """Return the faults that the run's last network suffers from, whether or not they were reported before."""
        return [finding for finding in self._find() if finding.what in OF_THE_END]

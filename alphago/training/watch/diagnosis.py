"""Diagnose faults of a run from its metrics, with the numbers that show a fault and the settings that help.

`diagnose` examines rows of metrics.jsonl; `Diagnosis` examines a run in progress and reports each fault once.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from alphago.training.history import Row, number
from alphago.training.watch.recent import Recent

# A game ends by two passes.  Other passes are 0.03 of the moves in sound 7x7 runs, 0.2 in collapsed runs.
ENDING_PASSES = 2
NEEDLESS_PASSES = 0.15
FEWEST_ENDING_PASSES = 1.5  # mean passes of a game from which games count as ended by passes, not by resignation
# Sound runs vary by a third when rules or komi change.
SHORT_GAMES = 0.5
# In nats; 0.3 corresponds to 1.35 moves of equal weight.  Usual: 1.4 to 2.2 on 7x7 and 9x9, 0.8 after ten good minutes.
DEAD_ENTROPY = 0.3
EARLY = 0.5  # share of the run; later a low entropy may mean that a small board is solved
# The over-fitted value network of Silver et al. 2016 had twice the error on unseen games (0.37 and 0.19).
OVERFIT_RATIO = 1.5
OVERFIT_GAMES = 500  # with fewer games results are learned by heart, and only more games help
OVERFIT_GAP = 0.05  # a smaller difference of the errors is ignored, whatever their ratio
# Means over 20 iterations.  Sound runs have 0.3 after 500 steps of self-play, 0.1 after 800 on human games of 19x19.
DEAD_CORRELATION = 0.02
VALUE_STEPS = 1500
# AlphaGo Zero's window held 20 generations, a tenth of the run; iterations are smaller here.
STALE_ITERATIONS = 100
STALE_SHARE = 0.6  # share of the run's positions in memory; the first games are then still sampled (KataGo: a third)
SMALLEST_WINDOW = 50_000  # positions; a smaller memory is never stale
# Nats of policy loss above the target's entropy.  With uniform sampling, 7x7 runs fall from 0.9 to below 0.5.  With
# sampling by surprise alone, the recipes' runs had 0.8 to 1.6 after their first iterations, so the limit is doubled.
# The difference does not show whether more samples would help (docs/results.md).
UNLEARNED = 1.0
STILL_FALLING = 0.01  # relative decrease of the policy loss from the older to the newer half of the recent rows
FEW_SAMPLES = 10.0  # samples per position; recipes use 2 to 8, and with more samples the fault lies elsewhere
STARVED_GPU = 0.4  # share of the time; a GPU that is busy for less waits for the host
# Processor time as a share of the threads' time.  The recipes' runs had 0.9 on an idle machine, and 0.41 and 0.53 on
# a busy machine.
STARVED_PROCESSOR = 0.6
LITTLE_SELFPLAY = 0.05  # share of the time; below it self-play could be twenty times faster
LITTLE_TRAINING = 0.02  # share of the time; below it twice as much training would cost 2 % more time
SKIPPED_SHARE = 0.01  # share of the gradient steps; sound runs skip none
NEARLY_ALL = 0.95  # share of the games
EXPLODED = 20.0  # nats; a uniform policy's loss is ln(actions), 3.9 on 7x7 and 5.9 on 19x19

PERSISTENCE = 3  # iterations in a row with a fault before it is reported
ABSENCE = 50  # iterations in a row without a reported fault before it may be reported again
ROWS = 500  # iterations kept, enough to compare the length of games with that of earlier games


@dataclass(frozen=True)
class Finding:
    """A fault of a run: its name (`what`), the numbers that show it, and the settings that help.

    The words fit a run in progress and one that is over.
    """

    what: str
    evidence: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.what}: {self.evidence}; {self.remedy}"


def pass_collapse(recent: Recent) -> Finding | None:
    """Report games with many needless passes, or games that became much shorter and end by passes."""
    passes, length = recent.of_games("pass_rate"), recent.of_games("game_length")
    if passes is None or not length:
        return None
    longest = max(recent.of_games("game_length", block) or 0 for block in range(len(recent.blocks)))
    is_short = length < SHORT_GAMES * longest
    if passes - ENDING_PASSES / length > NEEDLESS_PASSES:
        evidence = f"{passes:.0%} of the moves are passes, over {recent.games()} of {length:.0f} moves on average"
    elif is_short and passes * length > FEWEST_ENDING_PASSES:
        evidence = f"games fell from {longest:.0f} to {length:.0f} moves and end by passes, over {recent.games()}"
    else:
        return None
    remedy = "leave exact_rules False, which forbids early passes, or set first_pass of the game's variant later"
    return Finding("pass collapse", evidence, remedy)


def entropy_death(recent: Recent) -> Finding | None:
    """Report that, early in the run, policy and targets put nearly all probability on one move."""
    policy, target = recent.mean("policy_entropy"), recent.mean("target_entropy")
    if policy is None or target is None or recent.progress() >= EARLY:
        return None
    if min(policy, target) >= DEAD_ENTROPY:
        return None
    return Finding(
        "entropy death",
        f"the policy's entropy is {policy:.2f} nats and its target's {target:.2f} after {recent.progress():.0%} of the "
        f"run (below {DEAD_ENTROPY}, hardly a second move is tried)",
        "raise readouts; in a Gumbel search lower c_scale or raise considered, in PUCT raise temperature_plies",
    )


def value_overfit(recent: Recent) -> Finding | None:
    """Report that the value's error is much larger on new games than on training samples."""
    memory = recent.settings.get("memory", {}).get("kind", "window")
    if memory != "window":
        return None  # a memory of one's own may train on mean results, whose error is smaller than a new game's
    if (recent.latest("games") or 0) < OVERFIT_GAMES:
        return None
    trained, fresh = recent.mean("value_loss"), recent.mean("fresh_value_loss")
    if trained is None or fresh is None:
        return None
    if fresh < max(OVERFIT_RATIO * trained, trained + OVERFIT_GAP):
        return None
    variance = recent.mean("value_variance")
    beside = "" if variance is None else f"; the results' variance is {variance:.2f}"
    return Finding(
        "value over-fit",
        f"the value's error is {fresh:.2f} on new games and {trained:.2f} on those it was trained on{beside}",
        "lower samples_per_position, raise memory_size, or raise weight_decay",
    )


def dead_value(recent: Recent) -> Finding | None:
    """Report values that, after many gradient steps, have nothing to do with the results."""
    correlation, steps = recent.mean("value_correlation"), recent.latest("steps")
    if correlation is None or steps is None or steps < VALUE_STEPS:
        return None
    is_trained = recent.settings.get("losses", {}).get("value") != 0
    if not is_trained or abs(correlation) > DEAD_CORRELATION:
        return None
    return Finding(
        "dead value",
        f"values and results are not correlated (r = {correlation:.2f}) after {steps:.0f} gradient steps",
        "lower dense_rate or learning_rate, in a new run",
    )


def stale_window(recent: Recent) -> Finding | None:
    """Report a replay memory so large that it still holds most of the run's positions, from very many iterations."""
    window, positions = recent.latest("memory"), recent.latest("positions")
    new_positions = recent.growth("positions")
    if window is None or not positions or not new_positions:
        return None
    if window < max(SMALLEST_WINDOW, STALE_SHARE * positions):
        return None
    per_iteration = new_positions / (len(recent.rows) - 1)
    iterations = window / per_iteration
    if iterations < STALE_ITERATIONS:
        return None
    return Finding(
        "stale window",
        f"samples came from {window:.0f} positions, {window / positions:.0%} of all, from {iterations:.0f} iterations",
        "lower memory_size, or raise games_in_flight or plies_per_iteration",
    )


def under_training(recent: Recent) -> Finding | None:
    """Report a policy loss that is high and still falls, while each position is trained on only a few times."""
    loss, target = recent.mean("policy_loss"), recent.mean("target_entropy")
    if loss is None or target is None:
        return None
    steps, positions, batch = recent.latest("steps"), recent.latest("positions"), number(recent.settings, "batch_size")
    if steps is None or not positions or batch is None:
        return None
    samples = steps * batch / positions
    if recent.settings.get("losses", {}).get("kl"):  # the loss is a divergence: the target's entropy is not in it
        target = 0.0
    unlearned = UNLEARNED * (1 + (number(recent.settings, "surprise_share") or 0.0))
    if loss - target < unlearned or samples >= FEW_SAMPLES:
        return None
    losses = [number(row, "policy_loss") or 0.0 for row in recent.trained]
    half = len(losses) // 2
    older = sum(losses[:half]) / half
    newer = sum(losses[half:]) / (len(losses) - half)
    if older - newer < STILL_FALLING * older:
        return None
    if value_overfit(recent):  # positions are already sampled too often
        return None
    return Finding(
        "under-training",
        f"the policy's loss is {loss:.2f} nats, {loss - target:.2f} above its target's entropy, and was still falling, "
        f"with {samples:.1f} samples per position",
        "raise samples_per_position or learning_rate",
    )


def starved_device(recent: Recent) -> Finding | None:
    """Report an idle GPU, a processor that other programs keep busy, or very little time for self-play or training."""
    busy = recent.mean("gpu_busy")
    if busy is not None and busy < STARVED_GPU:
        return Finding(
            "starved device",
            f"the GPU was busy {busy:.0%} of the time",
            "raise leaves in search, or games_in_flight in a new run",
        )
    worked = None if busy is not None else recent.mean("processor_share")  # beside a GPU, threads wait for the GPU
    if worked is not None and worked < STARVED_PROCESSOR:
        return Finding(
            "starved processor",
            f"the run's threads worked {worked:.0%} of the time: other programs, or other machines on the same "
            "hardware, took the rest",
            "let runs have the processor alone, or compare them by games or by time of the processor, not by minutes",
        )
    share = recent.selfplay_share()
    if share is not None and share < LITTLE_SELFPLAY:
        return Finding(
            "starved self-play",
            f"it had {share:.0%} of the time, training the rest",
            "lower samples_per_position, or raise batch_size or readouts",
        )
    if share is not None and share > 1 - LITTLE_TRAINING:
        return Finding(
            "starved training",
            f"it had {1 - share:.1%} of the time, self-play the rest",
            "raise samples_per_position, which costs next to nothing here, or lower readouts",
        )
    return None


def exploded_loss(recent: Recent) -> Finding | None:
    """Report a policy loss far above that of a uniform policy."""
    loss = next((number(row, "policy_loss") for row in reversed(recent.trained)), None)
    if loss is None or loss < EXPLODED:
        return None
    return Finding(
        "exploded loss",
        f"the policy's loss is {loss:.3g} nats, where one that knows nothing has 2 to 6",
        "lower learning_rate, in a new run: these weights have learned nothing",
    )


def skipped_steps(recent: Recent) -> Finding | None:
    """Report gradient steps that were skipped because a loss or gradient was not finite."""
    skipped, steps = recent.growth("skipped_steps"), recent.growth("steps")
    if not skipped or steps is None or skipped < SKIPPED_SHARE * (steps + skipped):
        return None
    return Finding(
        "skipped steps",
        f"{skipped:.0f} of the latest {steps + skipped:.0f} gradient steps had a loss or gradient that is not finite",
        "lower learning_rate, and look for nan or inf in the game's planes and in parts of the network of your own",
    )


def one_colour(recent: Recent) -> Finding | None:
    """Report that one colour wins nearly all games."""
    black, draws = recent.of_games("black_wins"), recent.of_games("draws")
    if black is None or draws is None:
        return None
    white = 1 - black - draws
    if max(black, white) < NEARLY_ALL:
        return None
    winner, komi = ("Black", "raise") if black > white else ("White", "lower")
    return Finding(
        "one colour wins",
        f"{winner} won {max(black, white):.0%} of {recent.games()}, so results taught next to nothing",
        f"{komi} the game's komi, or leave exact_rules False so that the margin counts too",
    )


def capped_games(recent: Recent) -> Finding | None:
    """Report that nearly all games are cut off at their largest number of moves."""
    capped, length = recent.of_games("capped"), recent.of_games("game_length")
    if capped is None or length is None or capped < NEARLY_ALL:
        return None
    return Finding(
        "all games capped",
        f"{capped:.0%} of {recent.games()} were cut off, at {length:.0f} moves on average",
        "raise the game's max_moves or allow passes earlier (first_pass), unless games of fixed length are meant",
    )


Rule = Callable[[Recent], Finding | None]
OF_SELFPLAY: tuple[Rule, ...] = (pass_collapse, entropy_death, stale_window, under_training, one_colour, capped_games)
OF_ALL_RUNS: tuple[Rule, ...] = (value_overfit, dead_value, starved_device, exploded_loss, skipped_steps)
RULES = (*OF_SELFPLAY, *OF_ALL_RUNS)


def diagnose(rows: Sequence[Row], settings: Mapping[str, Any], rules: Sequence[Rule] = RULES) -> list[Finding]:
    """Return the faults that a run has at the end of `rows`.

    A rule whose metrics or settings are missing finds nothing.  Rules about games find nothing until a trained network
    has played JUDGED_GAMES games.  For a run on given games, only the rules OF_ALL_RUNS apply.

    rows: rows of metrics.jsonl, oldest first.  settings: the run's settings by name, see `flat_settings`.
    rules: functions that each look for one fault.
    """
    recent = Recent(rows, settings)
    if not recent.has_selfplay():
        rules = [rule for rule in rules if rule not in OF_SELFPLAY]
    return [finding for rule in rules if (finding := rule(recent)) is not None]


class Diagnosis:
    """The faults of a run in progress.

    A fault is reported once it was present in PERSISTENCE iterations in a row.  It is reported again only if it was
    absent in ABSENCE iterations in a row in between.

    settings: the run's settings by name, see `flat_settings`.  rules: functions that each look for one fault.
    """

    def __init__(self, settings: Mapping[str, Any], rules: Sequence[Rule] = RULES) -> None:
        self.settings, self.rules = settings, rules
        self.rows: deque[Row] = deque(maxlen=ROWS)
        self.present: dict[str, int] = {}  # iterations in a row with each fault
        self.absent: dict[str, int] = {}  # iterations in a row without each reported fault

    def remember(self, rows: Sequence[Row]) -> None:
        """Add the metrics of earlier iterations, so that their faults are not reported again at once.

        rows: rows of metrics.jsonl, oldest first.  Faults in the last ABSENCE of these rows count as reported.
        """
        self.rows.extend(rows[:-ABSENCE])
        for row in rows[-ABSENCE:]:
            self.update(row)

    def update(self, row: Row) -> list[Finding]:
        """Add the metrics of one more iteration; return the findings to report now."""
        self.rows.append(row)
        findings = {finding.what: finding for finding in diagnose(list(self.rows), self.settings, self.rules)}
        self.present = {what: self.present.get(what, 0) + 1 for what in findings}
        absent = {what: 0 if what in findings else count + 1 for what, count in self.absent.items()}
        # A fault that is absent long enough is dropped here, and may be reported again.
        self.absent = {what: count for what, count in absent.items() if count < ABSENCE}
        persistent = [what for what, count in self.present.items() if count >= PERSISTENCE]
        news = [what for what in persistent if what not in self.absent]
        self.absent.update(dict.fromkeys(news, 0))
        return [findings[what] for what in news]

    def final(self) -> list[Finding]:
        """Return the faults that make the run's last network useless, whether or not they were reported before."""
        finding = exploded_loss(Recent(list(self.rows), self.settings))
        return [] if finding is None else [finding]

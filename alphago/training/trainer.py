"""`train`: self-play, memory and gradient steps in turn, behind a progress bar."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from alphago.arena.players import contestant
from alphago.env.game import GameEnv
from alphago.mcts.search import SearchSettings
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, available_cores, one_torch_thread
from alphago.records.record import GameRecord
from alphago.settings import make_settings
from alphago.training.checkpoint import RunFolder, default_folder
from alphago.training.diagnosis import Diagnosis
from alphago.training.learner import Learner, mean_metrics
from alphago.training.memory import ReplayMemory, Sample, window
from alphago.training.presets import named_preset, preset_for
from alphago.training.proof import Examiner, Opponent
from alphago.training.report import ConsoleReport, Report
from alphago.training.selfplay import SelfPlay, SelfPlaySettings, default_search


@dataclass(frozen=True)
class TrainingSettings:
    """How a run is trained; names and meanings of the first seven are AlphaGo.jl's.

    num_games: games of self-play in all (AlphaGo.jl 25 000, AlphaGo Zero 4.9 million).
    memory_size: most positions kept for sampling (AlphaGo.jl 500 000; the paper the last 500 000 games);
        how many are kept grows with the run, see `alphago.training.memory.window`.
    batch_size: positions per gradient step (AlphaGo.jl 32, the paper 2048).
    epochs: gradient steps on each batch drawn.
    ckp_freq: games between checkpoints.
    readouts: simulations per move of self-play (800 in AlphaGo.jl and AlphaZero).
    start_training_after: positions (not games) in memory before the first gradient step.
    samples_per_position: how often a position is drawn for training on average.
    search_share: how much of a value target comes from the search, per ply; see ReplayMemory.
    weight_averaging: how much of the averaged weights, which play, is kept at each gradient step.
    first_readouts: readouts at the beginning, from which they rise to `readouts` in equal ratios over the
        run; None for `readouts` all along.
    games_in_flight: games played side by side; None for an eighth of num_games, at most 256, so that
        a run of any length sees several generations.
    plies_per_iteration: moves played in every game between two rounds of training.
    learning_rate, weight_decay: of AdamW; the rate falls by a cosine over the run.
    opening_plies, decided_value: see SelfPlaySettings.
    resign_threshold: see SelfPlaySettings; -1, never, because a young network is sure of nonsense: one
        that has seen White win every game would resign all others after a few moves.
    no_resign_share, temperature_plies, groups: see SelfPlaySettings.
    search: see SearchSettings; None for a Gumbel search with enough leaves to fill a batch.
    curriculum: smaller boards to begin with, each as (board size, share of the run), in order: ((7, 0.25),) plays
        the first quarter of the run on 7x7.  For size-free networks.
    max_minutes: ends the run after this much time if it is not over before.
    taught_games: the run's first games in which self-play uses knowledge from outside the rules: in Go, nobody
        fills own eyes.
    exact_rules: self-play by the game's own rules instead of `env.training_variant()`, which for Go allows
        passing late only, varies komi, and lets outcomes depend on the margin a little.
    seed: of games, samples and initial weights.
    """

    num_games: int = 1000
    memory_size: int = 500_000
    batch_size: int = 128
    epochs: int = 1
    ckp_freq: int = 100
    readouts: int = 800
    start_training_after: int = 1000
    samples_per_position: float = 8.0
    search_share: float = 0.03
    weight_averaging: float = 0.995
    first_readouts: int | None = None
    opening_plies: float | None = None
    decided_value: float = 0.68
    games_in_flight: int | None = None
    plies_per_iteration: int = 16
    learning_rate: float = 2e-3
    weight_decay: float = 0.01
    resign_threshold: float = -1.0
    no_resign_share: float = 0.05
    temperature_plies: int | None = None
    groups: int | None = None
    search: SearchSettings | None = None
    curriculum: tuple[tuple[int, float], ...] = ()
    max_minutes: float | None = None
    taught_games: int = 0
    exact_rules: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        whole = ("num_games", "memory_size", "batch_size", "epochs", "ckp_freq", "readouts", "plies_per_iteration")
        for name in whole:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise ValueError(f"{name} is a whole number from 1, came {value!r}")
            object.__setattr__(self, name, int(value))  # a numpy number could not be saved in the run's config
        for name in (
            "start_training_after",
            "samples_per_position",
            "learning_rate",
            "weight_decay",
            "seed",
            "taught_games",
        ):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} is 0 or more, came {getattr(self, name)!r}")
        if self.max_minutes is not None and not self.max_minutes > 0:
            raise ValueError(f"max_minutes is more than 0 or None, came {self.max_minutes!r}")
        if self.games_in_flight is not None and self.games_in_flight < 1:
            raise ValueError(f"games_in_flight is 1 or more, or None, came {self.games_in_flight!r}")
        if self.start_training_after > self.memory_size:
            raise ValueError(
                f"start_training_after ({self.start_training_after}) is more than memory_size ({self.memory_size}): "
                "training would never start"
            )
        try:
            steps = tuple((int(size), float(share)) for size, share in self.curriculum)
        except (TypeError, ValueError):
            steps = ((0, -1.0),)
        if any(share <= 0 for _, share in steps) or sum(share for _, share in steps) >= 1:
            raise ValueError(
                "curriculum is pairs of a board size and a share of the run, the shares less than 1 in all, "
                f"came {self.curriculum!r}"
            )
        object.__setattr__(self, "curriculum", steps)
        self.selfplay()  # looks at the rest

    def selfplay(self) -> SelfPlaySettings:
        """The part that self-play reads."""
        flight = self.games_in_flight or max(1, min(256, self.num_games // 8))
        search = self.search or default_search(flight, self.readouts)
        names = (
            "readouts", "groups", "temperature_plies", "resign_threshold", "no_resign_share", "opening_plies",
            "decided_value",
        )  # fmt: skip
        return SelfPlaySettings(games_in_flight=flight, search=search, **{n: getattr(self, n) for n in names})


FRESH_POSITIONS = 256  # of the newest games, on which the network is measured before it learns from them


class Trainer:
    """One run: `iterate` plays some moves in every game, then trains on what was finished."""

    def __init__(
        self,
        env: GameEnv,
        net: NeuralNet,
        settings: TrainingSettings,
        folder: RunFolder,
        workers: Workers,
        stop: threading.Event,
    ) -> None:
        self.stages = stages(env, settings.curriculum)
        for stage, _ in self.stages:
            net.resized(stage)  # whether all boards suit the network
        self.net = net
        self.settings = settings
        self.folder = folder
        self.workers = workers
        self.learner = Learner(net, settings.learning_rate, settings.weight_decay, settings.weight_averaging, workers)
        self.generator = np.random.default_rng([settings.seed, 1 << 32])
        self.stop = stop
        self.began = time.monotonic()  # moved on by the time that examinations take
        self.games = 0
        self.positions = 0  # of finished stages
        self.iterations = 0
        self.enter(self.stages[0][0])

    def enter(self, env: GameEnv) -> None:
        """Goes on with a board: its own games and memory, the same network."""
        variant = env if self.settings.exact_rules else env.training_variant(self.settings.taught_games)
        self.env = env
        self.memory = ReplayMemory(variant, min(window(0), self.settings.memory_size), self.settings.search_share)
        self.selfplay = SelfPlay(
            variant, self.settings.selfplay(), self.settings.num_games, self.settings.seed, self.games
        )
        self.learner.resize(env)
        self.evaluator = self.learner.average.evaluator()
        self.samples_due = 0.0

    def enter_next_stage(self) -> None:
        """Enters the stage that is due, if it is another one."""
        due = next(env for env, end in self.stages if self.progress < end or end == 1.0)
        if due != self.env:
            self.folder.checkpoint(self.learner.average, self.games)
            self.positions += self.memory.added
            self.enter(due)

    @property
    def progress(self) -> float:
        """How much of the run is over, 0 .. 1, by games or by time, whichever is further."""
        return min(1.0, max(self.games / self.settings.num_games, self.time_used))

    @property
    def seconds(self) -> float:
        """Training time so far; examinations are not part of it."""
        return time.monotonic() - self.began

    @property
    def time_used(self) -> float:
        """The share of `max_minutes` that is over; 0 without such a limit."""
        limit = self.settings.max_minutes
        return self.seconds / (60 * limit) if limit else 0.0

    @property
    def deadline(self) -> float | None:
        """The time (of time.monotonic()) at which `max_minutes` are over."""
        return self.began + 60 * self.settings.max_minutes if self.settings.max_minutes else None

    def examined(self, examiner: Examiner) -> bool:
        """Whether the network is proved to be stronger, if an examination is due; training's clock stands still."""
        if self.env != examiner.env or not examiner.due(self.seconds):
            return False
        began = time.monotonic()
        proved = examiner.examine(self.learner.average, self.seconds, self.games)
        self.began += time.monotonic() - began
        return proved

    @property
    def readouts(self) -> int:
        """Readouts of a move at this point of the run."""
        last, first = self.settings.readouts, self.settings.first_readouts or self.settings.readouts
        return round(first * (last / first) ** self.progress)

    def iterate(self) -> dict[str, Any]:
        """One round; returns its metrics."""
        start = time.monotonic()
        self.enter_next_stage()
        moves_before, readouts_before = self.selfplay.moves, self.selfplay.readouts_done
        readouts = self.readouts
        records = self.selfplay.run(
            self.workers, self.evaluator, self.settings.plies_per_iteration, self.stop, self.deadline, readouts
        )
        played = time.monotonic()
        added = self.memory.added
        self.memory.capacity = min(window(added), self.settings.memory_size)
        self.memory.add(records)
        self.folder.add_games(records)
        self.games += len(records)
        new = self.memory.added - added
        fresh = {}
        if new and self.learner.steps:
            fresh = self.learner.unseen(self.memory.sample(FRESH_POSITIONS, self.generator, newest=new))
        rows = self.learn(new)
        if rows:
            self.evaluator = self.learner.average.evaluator()
        now = time.monotonic()
        self.iterations += 1
        moves = self.selfplay.moves - moves_before
        return {
            "iteration": self.iterations,
            "seconds": round(self.seconds, 3),
            "games": self.games,
            "board_size": self.env.N,
            "positions": self.positions + self.memory.added,
            "memory": len(self.memory),
            "steps": self.learner.steps,
            "skipped_steps": self.learner.skipped,
            "learning_rate": self.learner.rate(self.progress),
            "moves_per_second": moves / max(played - start, 1e-9),
            "readouts": readouts,
            "readouts_per_second": (self.selfplay.readouts_done - readouts_before) / max(played - start, 1e-9),
            "selfplay_share": (played - start) / max(now - start, 1e-9),
            **mean_metrics(rows),
            **fresh,
            **describe_games(records, self.env),
        }

    def learn(self, new_positions: int) -> list[dict[str, float]]:
        """The gradient steps that are due after `new_positions` more positions; their metrics."""
        settings = self.settings
        rows: list[dict[str, float]] = []
        if len(self.memory) < max(settings.start_training_after, 1):
            return rows
        # Positions from before the start count too: they have not been sampled yet.
        before = self.memory.added - new_positions
        fresh = new_positions if before >= settings.start_training_after else self.memory.added
        self.samples_due += fresh * settings.samples_per_position
        with ThreadPoolExecutor(1) as sampler:  # draws the next batch while the present one is learned

            def draw() -> Future[Sample]:
                return sampler.submit(self.memory.sample, settings.batch_size, self.generator)

            batches = int(self.samples_due // settings.batch_size)
            coming = draw() if batches else None
            while coming is not None and not self.stop.is_set() and self.time_used < 1.0:
                sample = coming.result()
                batches -= 1
                self.samples_due -= settings.batch_size
                coming = draw() if batches else None
                for _ in range(settings.epochs):
                    metrics = self.learner.step(sample, self.progress)
                    if metrics is not None:
                        rows.append(metrics)
        return rows


def stages(env: GameEnv, curriculum: Sequence[tuple[int, float]]) -> list[tuple[GameEnv, float]]:
    """The boards of a run and the progress at which each ends, the last one at 1."""
    ends = np.cumsum([share for _, share in curriculum]).tolist()
    return [*((env.resized(size), end) for (size, _), end in zip(curriculum, ends, strict=True)), (env, 1.0)]


def describe_games(records: Sequence[GameRecord], env: GameEnv) -> dict[str, Any]:
    """Length, passes, result balance and resignations of finished games; None where there are none."""
    if not records:
        names = ("game_length", "pass_rate", "black_wins", "draws", "resignations", "capped")
        return dict.fromkeys(names)
    lengths = [len(record) for record in records]
    moves = np.concatenate([record.moves for record in records])
    return {
        "game_length": float(np.mean(lengths)),
        "pass_rate": float(np.mean(moves == env.pass_action)) if env.pass_action is not None else None,
        "black_wins": float(np.mean([record.outcome > 0 for record in records])),
        "draws": float(np.mean([record.outcome == 0 for record in records])),
        "resignations": float(np.mean([record.resigned for record in records])),
        "capped": float(np.mean([length >= env.max_moves for length in lengths])),
    }


@contextlib.contextmanager
def stopped_by_interrupt(stop: threading.Event) -> Iterator[None]:
    """Lets the first Ctrl-C set `stop`, so that a run ends between two moves; a second one interrupts at once."""

    def handle(number: int, frame: Any) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


NO_LIMIT = 10**9  # games of a run that ends by the clock


def train(
    env: GameEnv,
    num_games: int | None = None,
    *,
    preset: str | None = None,
    model: NeuralNet | None = None,
    tower_height: int | None = None,
    channels: int | None = None,
    folder: str | Path | None = None,
    reports: Sequence[Report] | None = None,
    until: str | Opponent | None = None,
    **settings: Any,
) -> NeuralNet:
    """Trains a network from games against itself and returns it.

    num_games: games to play; None for a run that ends by the clock (`max_minutes`).
    preset: a recipe by its name (see `alphago.training.presets`): network and settings where this call does not
        say otherwise.  None for the board's own recipe if the run ends by the clock, for none else.
    model: a network to go on with, trained in place; None for a new one of `tower_height` residual
        blocks and `channels` channels (see NeuralNet).
    folder: where weights, settings, games and metrics are kept (see RunFolder); None for a new one
        under runs/.  Must be empty.
    reports: who is told of the progress; None for a progress bar.
    until: an opponent, "gnugo" for one, whom the network plays every minute of training; the run ends early when
        it is proved to be the stronger one (a sequential test, see `alphago.training.proof`; the proof is kept as
        proof.json).  The time that these matches take is not training time.
    Further keywords are those of TrainingSettings.

    Ctrl-C ends the run at the next move, with everything saved; so does the end of `max_minutes`.
    """
    recipe = named_preset(preset) if preset is not None else preset_for(env) if num_games is None else None
    given = {**(recipe.settings if recipe else {}), **settings}
    if num_games is not None:
        given["num_games"] = num_games
    elif given.get("max_minutes") is not None:
        given.setdefault("num_games", NO_LIMIT)
    chosen = make_settings(TrainingSettings, **given)
    if model is not None and (tower_height is not None or channels is not None):
        raise ValueError("tower_height and channels describe a new network; a model was given too")
    if model is None:
        with seeded(chosen.seed):
            sizes = {"tower_height": tower_height, "channels": channels}
            network = recipe.network if recipe else {}
            model = NeuralNet(env, **{**network, **{k: v for k, v in sizes.items() if v is not None}})
    resized = model.resized(env)  # ValueError for another game
    model = model if model.env.plane_shape == env.plane_shape else resized
    config = {"game": env.name, "env": env.config, "network": model.config, "settings": asdict(chosen)}
    run = RunFolder(Path(folder) if folder is not None else default_folder(f"{env.name}{env.N}"), config)
    listeners: Sequence[Report] = [ConsoleReport()] if reports is None else reports

    def tell(text: str) -> None:
        for report in listeners:
            report.note(text)

    examiner = None
    if until is not None:
        opponent = Opponent(until) if isinstance(until, str) else until
        contestant(opponent.name)  # raises now rather than in a minute
        examiner = Examiner(env, opponent, run.path, tell)
    for report in listeners:
        report.start(run.path, asdict(chosen))
    diagnosis = Diagnosis(asdict(chosen))
    saved_at = 0
    metrics: dict[str, Any] = {"games": 0}
    stop = threading.Event()
    with stopped_by_interrupt(stop), one_torch_thread(), Workers(chosen.groups or available_cores()) as workers:
        trainer = Trainer(env, model, chosen, run, workers, stop)
        while trainer.games < chosen.num_games and trainer.progress < 1.0 and not trainer.stop.is_set():
            metrics = trainer.iterate()
            run.add_metrics(metrics)
            for report in listeners:
                report.iteration(metrics)
            for finding in diagnosis.update(metrics):
                tell(str(finding))
            if trainer.games // chosen.ckp_freq > saved_at // chosen.ckp_freq:
                run.checkpoint(trainer.learner.average, trainer.games)
                saved_at = trainer.games
            if examiner is not None and trainer.examined(examiner):
                break
        model.load_state_dict(trainer.learner.average.state_dict())
        latest = run.checkpoint(model, trainer.games)
        metrics.setdefault("steps", 0)
        for report in listeners:
            report.finish(metrics, latest, trainer.stop.is_set())
    return model.eval()


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seeds torch for the block and puts its random state back afterwards."""
    state = torch.get_rng_state()
    torch.manual_seed(seed)
    try:
        yield
    finally:
        torch.set_rng_state(state)

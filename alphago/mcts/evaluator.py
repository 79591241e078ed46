"""Evaluators, which compute priors and values for a search.

Networks provide evaluators; `as_evaluator` makes one of any object with `evaluate`, or of a function on positions.
"""

import inspect
import reprlib
from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from os import PathLike
from typing import Any, NamedTuple, Protocol

import numpy as np

from alphago.env.batch import GameBatch
from alphago.env.batch_with_moves import with_moves
from alphago.env.devices import check_device
from alphago.env.game import GameEnv
from alphago.env.games import with_planes
from alphago.env.position import Position
from alphago.mcts.kernels.evaluator import hash_evaluation

ROUNDING = 1e-3  # how far a value may be outside -1 .. 1
PLAYOUT_PLIES = 400  # of a playout; then the current board is scored
SPLITMIX_STEP = np.uint64(0x9E3779B97F4A7C15)  # from one state of SplitMix64 to the next
SPLITMIX_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)  # of its finalizer


class Evaluator(Protocol):
    """Computes priors and values of positions; several threads may call it at once.

    If it has an attribute `reads_moves` that is true, it gets boards that keep the moves of each game:
    `batch.position(slot).moves` (see `new_boards`).

    An evaluator that has an attribute `makes_forecasts` is a forecaster, for boards on the CPU: the attribute says
    whether its network has score and ownership.  The method `evaluate` of a forecaster has two more arguments:

    - forecasts: two arrays, overwritten; None (the default) for no forecasts.  The first has scores, float32 [n], the
      mover's margin in points.  The second has ownership, float32 [n, H W], 1 for a point that becomes the mover's, -1
      for a point that becomes the other side's.
    - symmetries: indices into `env.symmetries`, by default (0,); each result is the mean over these symmetries of the
      position.

    Attributes:
        device: where the boards of a search must be; an evaluator without it has them on the CPU. An evaluator for any
            device but "cpu" is a `WaveEvaluator`.
    """

    device: str = "cpu"

    @abstractmethod
    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        """Write priors and values for the positions in `slots`, whose games must not be over.

        Args:
            slots: int64 [n].
            priors: float32 [n, A], overwritten: positive on legal actions, 0 elsewhere; each row sums to 1.
            values: float32 [n], overwritten: -1 .. 1, from the view of the player about to move.
        """


class WaveEvaluator(Evaluator, Protocol):
    """An evaluator for boards and search trees on a device.

    Its `evaluate` also takes arrays on the device.  Then it returns before the results are there.  It does not skip
    finished games, whose results do not matter, and it marks broken evaluations by values that are not finite.
    """

    def stream(self) -> AbstractContextManager[object]:
        """Return a context in which this thread's calls are queued on a stream of its own."""
        return nullcontext()

    def repeat(self, steps: Callable[[], None], graphs: dict[Any, Any], key: Hashable) -> None:
        """Call `steps` within `stream`, or repeat what it did at the last call with this `key`.

        Args:
            steps: queues the same kernels on the same arrays each time.  On a GPU they are captured as a CUDA graph.
            graphs: where the graphs are kept, by key.
        """
        steps()  # here nothing is captured; the evaluator for a GPU overrides this method


def new_boards(env: GameEnv, evaluator: Evaluator, count: int, on_cpu: bool = False) -> GameBatch:
    """Return a batch of `count` slots for an evaluator; it keeps the moves of each game if the evaluator reads them.

    Args:
        on_cpu: whether the boards are on the CPU even if the evaluator has another device.
    """
    batch = env.new_batch(count, "cpu" if on_cpu else getattr(evaluator, "device", "cpu"))
    return with_moves(batch) if getattr(evaluator, "reads_moves", False) else batch


class Evaluations(NamedTuple):
    """The evaluations of n positions, from the view of the player to move."""

    priors: np.ndarray  # float32 [n, A]; those of finished games do not matter
    values: np.ndarray  # float32 [n]
    scores: np.ndarray  # float32 [n], margins in points; NaN if unknown
    owners: np.ndarray  # float32 [n, P], the ownership of the board's points; P = 0 if it is not forecast


def new_evaluations(count: int, actions: int, points: int) -> Evaluations:
    """Return arrays for the evaluations of `count` positions, to be overwritten.

    Args:
        actions: A, the number of actions.
        points: P, the number of points whose ownership is forecast.
    """
    values, scores = np.full((2, count), np.nan, np.float32)
    priors, owners = (np.zeros((count, columns), np.float32) for columns in (actions, points))
    return Evaluations(priors, values, scores, owners)


def points_forecast(env: GameEnv, evaluator: Evaluator) -> int:
    """Return the number of points whose ownership an evaluator forecasts: all of the board, or 0 without forecasts."""
    height, width = env.plane_shape
    return height * width if getattr(evaluator, "makes_forecasts", False) else 0


def evaluate_boards(evaluator: Any, batch: GameBatch, slots: np.ndarray, over: np.ndarray, out: Evaluations) -> None:
    """Evaluate the positions in some slots of a batch; a finished game has the score and ownership of its board.

    Args:
        evaluator: an Evaluator, and a forecaster if `out` has ownership.
        slots: int64 [n].
        over: bool [n], whether each game is over.
        out: overwritten, except the priors and values of finished games: the caller has written these values.
    """
    has_forecasts = out.owners.shape[1] > 0
    any_over = np.count_nonzero(over) > 0
    # If no game is over, as usual, `out` itself is written.  Else the rows of live games are copied, and copied back.
    live = np.flatnonzero(~over) if any_over else slice(None)
    evaluated = Evaluations(*(array[live] for array in out)) if any_over else out
    if len(evaluated.values):
        forecasts = [(evaluated.scores, evaluated.owners)] if has_forecasts else []
        evaluator.evaluate(batch, slots[live], evaluated.priors, evaluated.values, *forecasts)
    if not any_over:
        return
    for whole, part in zip(out, evaluated, strict=True):
        whole[live] = part
    if has_forecasts:
        ended = slots[over]
        out.scores[over] = batch.score(ended, np.empty(len(ended), np.float32))
        out.owners[over] = batch.ownership(ended, np.empty((len(ended), out.owners.shape[1]), np.int8))


def evaluate_all(evaluator: Evaluator, batch: GameBatch, points: int) -> Evaluations:
    """Evaluate all positions of a batch; a finished game is worth the result on its board, and has no priors.

    Args:
        points: the number that `points_forecast` returns; 0 for neither scores nor ownership.
    """
    slots = np.arange(batch.count)
    out = new_evaluations(batch.count, batch.env.action_space, points)
    over = batch.is_over(slots, np.empty(batch.count, np.bool_))
    batch.outcome(slots, out.values)  # of all games; those of live ones are overwritten
    evaluate_boards(evaluator, batch, slots, over, out)
    return out


class AveragedEvaluator(Evaluator):
    """A forecaster that averages the evaluations of another one over symmetries of the board.

    Args:
        inner: the other forecaster, see `Evaluator`.
        env: a game that it evaluates.
        symmetries: indices into `env.symmetries`; None for all.

    Raises:
        ValueError: if `inner` is no forecaster, and so cannot average.
    """

    def __init__(self, inner: Any, env: GameEnv, symmetries: Sequence[int] | None = None) -> None:
        # Not a network's evaluator: users ask for the mean by the setting `symmetries`, which may be False.
        if not hasattr(inner, "makes_forecasts"):
            raise ValueError(f"symmetries must be False without a network, got {type(inner).__name__}")
        self.inner, self.makes_forecasts = inner, inner.makes_forecasts
        self.env = getattr(inner, "env", env)  # with the network's planes, which searches give their boards
        self.reads_moves = getattr(inner, "reads_moves", False)
        self.symmetries = range(len(env.symmetries.points)) if symmetries is None else symmetries

    def evaluate(
        self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray, forecasts: Any = None
    ) -> None:
        """Write the means over this evaluator's symmetries; the arguments are those of a forecaster."""
        self.inner.evaluate(batch, slots, priors, values, forecasts, self.symmetries)


class UniformEvaluator(Evaluator):
    """An evaluator with equal priors for all legal actions, and value 0."""

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        """Write into `priors` [n, A] and `values` [n]; see `Evaluator.evaluate`."""
        mask = batch.legal_mask(slots, np.empty(priors.shape, np.bool_))
        np.divide(mask, mask.sum(axis=1, keepdims=True), out=priors, casting="unsafe")  # writes float64 as float32
        values[:] = 0


class HashEvaluator(Evaluator):
    """An evaluator with pseudo-random priors and values, computed from the position's hash; for tests and timings."""

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        """Write into `priors` [n, A] and `values` [n]; see `Evaluator.evaluate`."""
        mask = batch.legal_mask(slots, np.empty(priors.shape, np.bool_))
        hash_evaluation(batch.hash(slots, np.empty(len(slots), np.int64)), mask, priors, values)


class PlayoutEvaluator(Evaluator):
    """An evaluator with equal priors for all legal actions, and the mean result of random games as value.

    With it the search is classic UCT (Coulom 2006, Kocsis and Szepesvari 2006), for any game.

    In the random games a side passes only if it has no other legal move, so that the board is filled before a game
    ends.  The random games of a position depend on the position and the seed only, not on the rest of the batch.

    Args:
        playouts: the number of random games from each position.
        seed: seed of the random moves; None for a random one.
    """

    def __init__(self, env: GameEnv, playouts: int = 1, seed: int | None = None) -> None:
        self.env, self.playouts = env, playouts
        self.seeds = np.random.default_rng(seed).integers(2**64, size=playouts, dtype=np.uint64)

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        """Write into `priors` [n, A] and `values` [n]; see `Evaluator.evaluate`."""
        UniformEvaluator().evaluate(batch, slots, priors, values)  # for the priors; the values are overwritten
        hashes = batch.hash(slots, np.empty(len(slots), np.int64)).astype(np.uint64)
        values[:] = np.mean([self.play_out(batch, slots, mix(hashes ^ seed)) for seed in self.seeds], axis=0)

    def play_out(self, batch: GameBatch, slots: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Play one random game from each slot; return the results for the slots' movers, float32 [n], -1 .. 1.

        A game that is not over after PLAYOUT_PLIES has the result of its board as it is then.

        Args:
            seeds: uint64 [n], of the random moves of each game.
        """
        games, count = batch.extract(slots), len(slots)
        playing = all_games = np.arange(count)  # `playing`: those that are not over
        movers = games.to_play(all_games, np.empty(count, np.int8))
        for ply in range(PLAYOUT_PLIES):
            playing = playing[~games.is_over(playing, np.empty(len(playing), np.bool_))]
            if not len(playing):
                break
            legal = games.legal_mask(playing, np.empty((len(playing), self.env.action_space), np.bool_))
            games.play(playing, self.draw(legal, mix(seeds[playing] + np.uint64(ply))))
        last_to_play = games.to_play(all_games, np.empty(count, np.int8))  # `outcome` is from their view
        return games.outcome(all_games, np.empty(count, np.float32)) * last_to_play * movers

    def draw(self, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Return a random legal action for each row, int32 [n]; a pass only if it is the only legal action.

        Args:
            legal: bool [n, A], the legal actions; passes beside other actions are removed in place.
            seeds: uint64 [n].
        """
        if self.env.pass_action is not None:
            legal[legal.sum(axis=1) > 1, self.env.pass_action] = False
        # Each action gets the next random number of a SplitMix64 that starts from the row's seed; the greatest wins.
        numbers = mix(seeds[:, None] + np.arange(1, legal.shape[1] + 1, dtype=np.uint64) * SPLITMIX_STEP)
        above_zero = numbers | np.uint64(1)  # so that no legal action ties with the 0 of illegal ones
        return np.where(legal, above_zero, np.uint64(0)).argmax(axis=1).astype(np.int32)

    def __repr__(self) -> str:
        return f"PlayoutEvaluator({self.env!r}, {self.playouts})"


def mix(numbers: np.ndarray) -> np.ndarray:
    """Return pseudo-random numbers made of `numbers`, uint64, by SplitMix64's finalizer (Steele, Lea, Flood 2014)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * SPLITMIX_FACTORS[0]
    numbers = (numbers ^ (numbers >> np.uint64(27))) * SPLITMIX_FACTORS[1]
    return numbers ^ (numbers >> np.uint64(31))


class FunctionEvaluator(Evaluator):
    """An evaluator that calls a function on each position, with the moves that led to the position.

    The function returns (policy [A], value), with value +1 if Black wins and -1 if White wins, as in AlphaGo.jl.
    """

    reads_moves = True

    def __init__(self, function: Callable[[Position], tuple[object, object]]) -> None:
        self.function = function

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        """Write the function's answers into `priors` [n, A] and `values` [n], these in the view of the side to move."""
        for i, slot in enumerate(slots):
            position = batch.position(int(slot))
            policy, black_value = read_answer(self.function(position), batch.env)
            # Every legal action gets a prior above 0, so that the search can find what the policy misses.
            masked = np.where(position.legal_mask, np.maximum(policy, 1e-8), 0)
            priors[i] = masked / masked.sum()
            values[i] = position.to_play * black_value


def read_answer(answer: object, env: GameEnv) -> tuple[np.ndarray, float]:
    """Return the policy, float32 [A], and the value, -1 .. 1, in the answer of a user's function.

    Raises:
        TypeError: if the answer is not a pair.
        ValueError: if the policy is not one finite number >= 0 for each action, with at least one number > 0, or if the
            value is not a number from -1 to 1.
    """
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise TypeError(f"the network's function must return (policy, value), got {reprlib.repr(answer)}")
    policy, value = (np.asarray(part) for part in answer)
    if policy.dtype.kind not in "biuf" or policy.size != env.action_space:
        raise ValueError(
            f"the network's policy must be {env.action_space} real numbers, one for each action of {env}, got"
            f" {policy.size} of {policy.dtype}"
        )
    policy = policy.astype(np.float32).reshape(-1)
    if not (np.isfinite(policy).all() and policy.min() >= 0 and policy.max() > 0):
        raise ValueError(
            "the network's policy must be finite numbers >= 0, one of them above 0, got numbers from"
            f" {policy.min():g} to {policy.max():g}"
        )
    if not (value.dtype.kind in "biuf" and value.size == 1 and abs(float(value.item())) <= 1 + ROUNDING):
        raise ValueError(f"the network's value must be a number from -1 to 1, got {reprlib.repr(answer[1])}")
    return policy, float(value.item())


def network_and_game(network: object, env: GameEnv) -> tuple[Any, GameEnv]:
    """Return `as_network(network, env)` and the game to play with it.

    The game is `env`.  If `network` is the name, file or folder of a network, which is loaded here, the game has the
    planes that this network reads, such as KataGo's.
    """
    loaded: Any = as_network(network, env)
    return (loaded, env) if loaded is network else (loaded, loaded.env)


def as_network(network: object, env: GameEnv | None = None) -> object:
    """Return a network: load a name such as "7x7", a file or a run folder; return any other object unchanged.

    Args:
        env: the game to play, as in `load_model`.
    """
    if not isinstance(network, (str, PathLike)):
        return network
    from alphago.nn.net import load_model  # only now: it loads torch

    return load_model(network, env)


def fitting_network(network: Any, env: GameEnv | None) -> object:
    """Return the network that `as_network` returns, resized if its board is not that of `env`.

    Evaluators and functions have no board, and are returned as they are.

    Raises:
        ValueError: if the boards differ and the network is not size-free (see `NeuralNet.resized`).
    """
    network = as_network(network, env)
    is_network = hasattr(network, "evaluator") and hasattr(network, "resized")
    if env is None or not is_network:
        return network
    # Planes of one shape are of one board, whatever they show.  A game that the network's game accepts has its board
    # too, even if the shapes differ: Oware has one board, but sets of planes of two shapes.
    fits = network.env.plane_shape == env.plane_shape or network.env.accepts(env)
    return network if fits else network.resized(with_planes(env, of=network.env))


def as_evaluator(
    network: object, env: GameEnv | None = None, device: str = "cpu", *, forecasts: bool = False
) -> Evaluator:
    """Return an evaluator for a network, an evaluator, or a function on positions.

    Args:
        network: one of
            - a network, or its name, file or run folder: its method `evaluator` makes the evaluator;
            - an object with a method `evaluate`, for boards on the CPU unless it has an attribute `device`;
            - a function as in `FunctionEvaluator`.
        env: the game to evaluate; a size-free network for another board is resized.
        device: the device on which a network is computed, and which holds the boards of its searches: "cpu", "cuda", or
            "auto" for the GPU if there is one that supports game and network. Ignored for evaluators, functions, and
            networks whose `evaluator` has no argument `device`.
        forecasts: whether to return a forecaster (see `Evaluator`), with boards on the CPU, if the network has one.

    Raises:
        ValueError: for an unknown device.
        TypeError: if `network` is none of these.
    """
    check_device(device)
    fitting: Any = fitting_network(network, env)
    if forecasts and hasattr(fitting, "forecast_evaluator"):
        return fitting.forecast_evaluator(device=device)
    if hasattr(fitting, "evaluator"):
        takes_device = "device" in inspect.signature(fitting.evaluator).parameters
        return fitting.evaluator(device=device) if takes_device else fitting.evaluator()
    if hasattr(fitting, "evaluate"):
        return fitting
    if callable(fitting):
        return FunctionEvaluator(fitting)
    raise TypeError(
        "network must be a NeuralNet, an evaluator, a function on positions, or a name, file or run folder as"
        f" load_model takes it, got {network!r}"
    )

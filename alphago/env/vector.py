"""`VectorEnv`: many games that are played at once with arrays, in the manner of Gymnasium's vector environments."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from alphago.env.batch import FIRST_SLOT
from alphago.env.devices import choose_device
from alphago.env.game import GameEnv, check_env
from alphago.env.position import IllegalMove, Position
from alphago.system.validation import check_int, checks_keywords, shown


class Observation(NamedTuple):
    """What is seen of all games: the first two answers of `VectorEnv.step`, and both of `VectorEnv.reset`."""

    planes: Any  # float32 [num_envs, planes, height, width], each from the view of the player to move
    info: dict[str, Any]  # "legal_mask": bool [num_envs, action_space]; "to_play": int8 [num_envs], +1 or -1


@checks_keywords()
class VectorEnv:
    """Many games of one kind, each at a move of its own: `reset`, `step`, `observe`.

    Names and order of the answers are those of `gymnasium.vector.VectorEnv`; a game that ends begins anew within the
    same step, as with `auto_reset` of pgx.  Every call returns new arrays: NumPy's; CuPy's on a GPU; or what `convert`
    returns for them.

    Args:
        env: the game.
        num_envs: number of games.
        device: "cpu", "cuda", "host" or "auto", see `alphago.env.devices.choose_device`, which also says what it
            raises.
        convert: a function of an array, applied to every array that is returned, such as `torch.as_tensor`, which
            copies nothing.
    """

    def __init__(
        self, env: GameEnv, num_envs: int, *, device: str = "cpu", convert: Callable[[Any], Any] | None = None
    ) -> None:
        check_env(env)
        self.env, self.num_envs = env, check_int("num_envs", num_envs, 1)
        self.device = choose_device(env, device)
        self.batch = env.new_batch(num_envs, self.device)
        backend = getattr(self.batch, "backend", None)
        self._zeros = backend.zeros if backend else np.zeros  # called with a shape and a dtype
        self._upload = backend.upload if backend else np.ascontiguousarray  # called with an array and a dtype
        self._convert = convert or (lambda array: array)
        self._slots: Any = self._upload(np.arange(num_envs), np.int64)
        self._setup: dict[str, object] = {}
        self._legal_mask: Any = None  # of the last observation; None before the first

    def reset(self, **setup: object) -> Observation:
        """Begin all games anew, and return what is seen of them.

        Args:
            setup: how these games and those after them begin, keywords of `GameBatch.reset` (Go: komi, stones,
                to_play).
        """
        if setup:
            self.env.new_batch(1).reset(FIRST_SLOT, **setup)  # raises for one that is refused, before the games change
        self.batch.reset(self._slots, **setup)
        self._setup = deepcopy(setup)  # its caller may change an array later
        return self.observe()

    def observe(self) -> Observation:
        """Return what is seen of the games now."""
        env, count = self.env, self.num_envs
        legal_mask = self._zeros((count, env.action_space), np.bool_)
        planes = self._zeros((count, env.planes, *env.plane_shape), np.float32)
        self.batch.observe(self._slots, legal_mask, planes)
        self._legal_mask = legal_mask.copy()  # the caller gets `legal_mask`, and may write to it
        info = {"legal_mask": self._convert(legal_mask), "to_play": self._from_numpy(self._movers())}
        return Observation(self._convert(planes), info)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Play an action in every game; games that end begin anew.

        Args:
            actions: integers [num_envs], of any kind of array or a list.

        Returns:
            (planes, rewards, terminated, truncated, info).  rewards: float32 [num_envs], the outcome, -1 .. 1, of the
            player who moved in this step if the game has ended, else 0; the other player's is the negative.
            terminated: bool [num_envs], whether the game has ended; `planes` and `info` are then those of the next
            game's start.  truncated: all False, since the most moves of a game are part of its rules.

        Raises:
            ValueError: if `actions` are not such integers or one of them is not legal; then nothing was played.
        """
        moves = self._check_actions(actions)
        movers = self._movers()  # before the actions are played
        self.batch.play(self._slots, moves)
        terminated = self.batch.is_over(self._slots, np.zeros(self.num_envs, np.bool_))
        rewards = np.zeros(self.num_envs, np.float32)
        ended = np.flatnonzero(terminated)
        if len(ended):
            black_outcomes, _ = self.batch.black_results(ended)
            rewards[ended] = movers[ended] * black_outcomes
            self.batch.reset(ended, **self._setup)
        planes, info = self.observe()
        truncated = np.zeros_like(terminated)
        return planes, self._from_numpy(rewards), self._from_numpy(terminated), self._from_numpy(truncated), info

    def position(self, game: int) -> Position:
        """Return the position of a game, 0 .. num_envs - 1, to look at; without the moves that led to it."""
        return self.env.position_of(self.batch, check_int("game", game, 0, self.num_envs - 1))

    def _movers(self) -> np.ndarray:
        """Return who is to move in each game, int8 [num_envs]."""
        return self.batch.to_play(self._slots, np.empty(self.num_envs, np.int8))

    def _from_numpy(self, array: np.ndarray) -> Any:
        """Return a NumPy array as the caller gets it: on the games' device, and converted."""
        return self._convert(self._upload(array, array.dtype))

    def _check_actions(self, actions: Any) -> Any:
        """Return the actions as int32 [num_envs] on the games' device, if all are legal."""
        if self._legal_mask is None:
            self.observe()  # sets it
        given = actions if hasattr(actions, "dtype") else np.asarray(actions)
        # The names of integer types have "int" in all libraries: NumPy's int64 and uint8, torch.int64.
        if "int" not in str(given.dtype) or tuple(given.shape) != (self.num_envs,):
            raise ValueError(f"actions must be {self.num_envs} integers, one for each game, got {shown(actions)}")
        moves = self._upload(given, np.int64)
        in_range = (moves >= 0) & (moves < self.env.action_space)
        # An action out of range is looked up as action 0, since the mask has no entry for it.
        legal = in_range & self._legal_mask[self._slots, moves * in_range]
        if not legal.all():
            game = int(legal.argmin())
            try:
                self.position(game).check_action(int(moves[game]))
            except IllegalMove as error:
                raise ValueError(f"actions[{game}] must be legal: {error.sentence}; nothing was played") from None
        return self._upload(moves, np.int32)

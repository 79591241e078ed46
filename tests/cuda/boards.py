"""Games played on numba's rows and on a back end's, side by side."""

from typing import Any

import numpy as np

from alphago.cuda.backend import Backend
from alphago.cuda.batch import CudaGoBatch
from alphago.env.go import GoEnv
from alphago.env.go_batch import GoBatch


class Twins:
    """The same positions twice, in `ours` (numba) and `theirs`; each verb goes to both."""

    def __init__(self, env: GoEnv, count: int, backend: Backend) -> None:
        self.env = env
        self.ours, self.theirs = GoBatch(env, count), CudaGoBatch(env, count, backend)
        self.slots = np.arange(count)

    def do(self, verb: str, *arguments: Any, **options: Any) -> None:
        for batch in (self.ours, self.theirs):
            getattr(batch, verb)(*arguments, **options)

    def ask(self, verb: str, shape: tuple[int, ...], dtype: Any, slots: np.ndarray) -> np.ndarray:
        """The answer of both, which has to be the same to the bit."""
        answers = []
        for batch in (self.ours, self.theirs):
            out = np.full((len(slots), *shape), 77).astype(dtype)
            assert getattr(batch, verb)(slots, out) is out
            answers.append(out)
        assert np.array_equal(answers[0], answers[1]), verb
        return answers[0]

    def compare(self) -> np.ndarray:
        """All that can be asked of all slots, then the rows word by word; returns the legal masks."""
        env, slots = self.env, self.slots
        self.ask("planes", (env.planes, env.N, env.N), np.float32, slots)
        for verb, dtype in {"is_over": bool, "to_play": np.int8, "hash": np.int64}.items():
            self.ask(verb, (), dtype, slots)
        for verb in ("score", "outcome"):
            self.ask(verb, (), np.float32, slots)
        for verb in ("ownership", "pass_alive"):
            self.ask(verb, (env.N**2,), np.int8, slots)
        masks = self.ask("legal_mask", (env.action_space,), np.bool_, slots)
        assert np.array_equal(self.ours.rows, self.theirs.rows)
        return masks

    def play_on(self, random: np.random.Generator, plies: int, every: int = 1, pass_rate: float = 0.02) -> None:
        """Random legal moves until all games are over, or for so many plies; compares after every so many."""
        for ply in range(plies):
            if ply % every == 0:
                self.compare()
            masks = self.ask("legal_mask", (self.env.action_space,), np.bool_, self.slots)
            going = np.flatnonzero(masks.any(axis=1))
            if len(going) == 0:
                return
            chances = random.random(masks.shape) * masks
            chances[:, -1] *= random.random(len(masks)) < pass_rate
            chances[:, -1] += 1e-9 * masks[:, -1]
            self.do("play", going, chances[going].argmax(axis=1).astype(np.int32))
        self.compare()

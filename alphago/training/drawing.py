"""Batches to learn from, each drawn while the one before is learned."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from alphago.system.stopwatch import SAMPLING
from alphago.training.batches import Part


class Drawing:
    """Draws batches by chance on a thread of its own, and knows how to draw those again that nobody has learned."""

    def __init__(self, generator: np.random.Generator) -> None:
        self.generator = generator
        self._before: Mapping[str, Any] | None = None  # the generator's state before the batch that waits

    @property
    def state(self) -> Mapping[str, Any]:
        """The generator's state from which the batch that comes next is drawn, also where it is drawn already."""
        return self._before or self.generator.bit_generator.state

    @state.setter
    def state(self, state: Mapping[str, Any]) -> None:
        self.generator.bit_generator.state = state

    def batches(
        self, count: int, draw: Callable[[np.random.Generator], list[Part]], going: Callable[[], bool]
    ) -> Iterator[list[Part]]:
        """So many batches of `draw`, fewer where `going` is false before one; the generator stands behind the last."""
        with ThreadPoolExecutor(1) as drawer:

            def begin(left: int) -> Future[list[Part]] | None:
                self._before = self.generator.bit_generator.state if left else None
                return drawer.submit(draw, self.generator) if left else None

            coming = begin(count)
            while coming is not None and going():
                with SAMPLING:
                    batch = coming.result()
                count -= 1
                coming = begin(count)
                yield batch
        if self._before is not None:  # a batch that nobody will learn
            self.state, self._before = self._before, None

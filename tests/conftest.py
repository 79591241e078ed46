"""What no verdict may depend on: a machine's GPU, its processor's kinds of numbers, and chance."""

import gc
import os
import sys
from collections.abc import Iterator

# torch's threads sleep while they wait for each other: spinning takes fifteen times the processor in a small gradient
# step, while tests beside this one need the core.  It is read when torch is imported, here and in programs of tests.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import hypothesis
import pytest

from tests.devices import DEVICES

hypothesis.settings.register_profile("gate", deadline=None, derandomize=True)
hypothesis.settings.load_profile("gate")
gc.disable()  # until all tests are loaded: what is loaded stays

# The files that take longest, which are begun first where several processes share the tests: none of them is still
# going on alone when all others are done.
LONGEST = (
    "test_docs.py",
    "test_site.py",
    "nn/test_settings_of_others.py",
    "training/call/test_plan.py",
    "nn/inference/test_cpu.py",
    "nn/inference/test_gpu.py",
    "examples/cgzero/test_pool.py",
    "cli/test_evaluate.py",
    "cli/test_data_commands.py",
    "ui/gtp/test_protocol.py",
    "training/sweeps/test_sweep.py",
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the longest files first in a process of several."""
    if hasattr(config, "workerinput"):
        first = {f"tests/{name}": number for number, name in enumerate(LONGEST)}
        items.sort(key=lambda item: first.get(item.nodeid.split("::", 1)[0], len(first)))


def pytest_collection_finish() -> None:
    """What is loaded by now stays: no garbage collection looks at it again, nor does a test that counts objects."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def gpu_for_marked_tests(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU sums are others from run to run."""
    if request.node.get_closest_marker("gpu") is None and "torch" in sys.modules:
        monkeypatch.setattr("torch.cuda.is_available", lambda: False)


@pytest.fixture(autouse=True, scope="module")
def float32_on_every_processor() -> Iterator[None]:
    """No bfloat16 and no int8 where a test does not ask for them, whatever the processor has instructions for."""
    with pytest.MonkeyPatch.context() as patch:
        if "torch" in sys.modules:
            patch.setattr("alphago.nn.inference.hardware.cpu_has", lambda *instructions: False)
        yield


@pytest.fixture(autouse=True, scope="module")
def weights_of_a_module_are_the_same() -> None:
    """New networks are the same whichever modules ran before, for fixtures and, below, for each test."""
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(1)


@pytest.fixture(autouse=True)
def weights_are_the_same(weights_of_a_module_are_the_same: None) -> None:
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(1)


@pytest.fixture(params=DEVICES, scope="module")
def device(request: pytest.FixtureRequest) -> str:
    """The name of each device in turn."""
    return str(request.param)


@pytest.fixture
def games_as_before() -> Iterator[None]:
    """Games and searches of one's own that a command was given are unknown again after the test."""
    from alphago.env.games import GAMES
    from alphago.mcts.search_specs import SEARCHES

    before = [(known, dict(known)) for known in (GAMES, SEARCHES)]
    yield
    for known, names in before:
        known.clear()
        known.update(names)

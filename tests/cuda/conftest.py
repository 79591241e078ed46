"""The back ends: the host build of the kernels, and with -m gpu the device in blocks of several sizes."""

import pytest

from alphago.cuda.contract import Backend
from alphago.cuda.device import Device
from alphago.cuda.host import Host, find_compiler

# Threads of a block.  A kernel that needs too many registers for one of them fails there, with the driver's words.
BLOCKS = (32, 64, 128, 256)


@pytest.fixture(
    params=[pytest.param(0, id="host"), *(pytest.param(n, marks=pytest.mark.gpu, id=f"cuda-{n}") for n in BLOCKS)],
    scope="session",
)
def backend(request: pytest.FixtureRequest) -> Backend:
    if request.param:
        return Device(request.param)
    if find_compiler() is None:
        pytest.skip("there is no C++ compiler")
    return Host()

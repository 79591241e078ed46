"""The back ends: the host build of the kernels, and with -m gpu the device."""

import pytest

from alphago.cuda.backend import Backend, find_backend
from alphago.cuda.host import find_compiler


@pytest.fixture(params=["host", pytest.param("cuda", marks=pytest.mark.gpu)], scope="session")
def backend(request: pytest.FixtureRequest) -> Backend:
    if request.param == "host" and find_compiler() is None:
        pytest.skip("there is no C++ compiler")
    return find_backend(request.param)

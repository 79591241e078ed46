"""The devices that tests run on: the host build of the CUDA kernels, and with -m gpu the GPU."""

import pytest

from alphago.cuda.host import find_compiler

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
DEVICES = [pytest.param("host", marks=needs_compiler), pytest.param("cuda", marks=pytest.mark.gpu)]

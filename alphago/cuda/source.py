"""The kernels' source as one text: the constants that numba's kernels define, then the files in `kernels/`.

One text, because a compiler's cache then has one thing to compare; and constants from Python, because then no
number is written twice.
"""

import re
from functools import cache
from pathlib import Path
from types import ModuleType

from alphago.env.kernels import go_alive, go_features, go_row, hashing

FOLDER = Path(__file__).parent / "kernels"
FILES = ("go.cu", "policy.cu")
# How work that is more than one thread's is shared out; whoever launches asks for as many threads.
LANES = 32  # that copy a row together: those of a warp
BOARD_PARTS = 4  # of a set of planes, beside one for each board row: the score, its sign, what is alive for a colour
_INCLUDE = re.compile(r'#include "(\S+)"\n')


def constants(*modules: ModuleType) -> dict[str, int]:
    """The whole numbers with names in capitals; ValueError where two modules give one name two values."""
    found: dict[str, int] = {}
    for module in modules:
        for name, value in vars(module).items():
            if name.isupper() and isinstance(value, int) and found.setdefault(name, value) != value:
                raise ValueError(f"{name} is {found[name]} in one kernel module and {value} in {module.__name__}")
    return found


def expand(name: str, seen: set[str]) -> str:
    """A file's text with its own includes in place, each file once; compilers name the files in their messages."""
    seen.add(name)
    lines = []
    for number, line in enumerate((FOLDER / name).read_text().splitlines(keepends=True), 1):
        included = _INCLUDE.fullmatch(line)
        if included is None:
            lines.append("\n" if line == "#pragma once\n" else line)
        elif included[1] not in seen:
            lines.append(f'{expand(included[1], seen)}#line {number + 1} "{name}"\n')
        else:
            lines.append("\n")
    return f'#line 1 "{name}"\n' + "".join(lines)


@cache
def program() -> str:
    """The source of all kernels, for NVRTC and nvcc, and after `host.h` for a C++ compiler."""
    numbers = constants(hashing, go_row, go_alive, go_features) | {"LANES": LANES, "BOARD_PARTS": BOARD_PARTS}
    kinds = {name: "int" if abs(value) < 2**31 else "long long" for name, value in numbers.items()}
    defined = "".join(f"[[maybe_unused]] constexpr {kinds[name]} {name} = {numbers[name]};\n" for name in numbers)
    seen: set[str] = set()
    return defined + "".join(expand(name, seen) for name in FILES)


def host_program() -> str:
    """`program` for a C++ compiler."""
    return expand("host.h", set()) + program()

"""Programs: CUDA source as a single text, with constants that Python defines.

Includes are expanded to a single text, which is easy to hash for a cache.  Constants are taken from Python modules, so
that no number is written twice.
"""

import re
from functools import cached_property
from pathlib import Path
from types import ModuleType

from alphago.cuda.python_text import cpp_text
from alphago.system.kernels import hashing

FOLDER = Path(__file__).parent / "kernels"  # files that the programs of all games include
# Threads of a block, which work on one board together: one warp, so that boards are spread over many multiprocessors.
LANES = 32
_INCLUDE = re.compile(r'#include "(\S+)"\n')


class Program:
    """The source of one game's kernels: definitions of its constants, then a `.cu` file with its includes expanded.

    Args:
        path: the `.cu` file; its includes are in the same folder or in FOLDER.
        numbers: the game's constants by name (see `constants`).  The source also gets those of
            `alphago.system.kernels.hashing`.
    """

    def __init__(self, path: Path, numbers: dict[str, float]) -> None:
        self.path = path
        self.numbers = constants(hashing) | numbers

    @cached_property
    def text(self) -> str:
        """The source for CUDA's compilers, NVRTC and nvcc."""
        source = expand(self.path, set())
        lines = []
        # Only constants that the source uses: others may change, and the compiled program in the cache still fits.
        for name in sorted(self.numbers.keys() & re.findall(r"\w+", source)):
            value = self.numbers[name]
            c_type = "double" if isinstance(value, float) else "int" if abs(value) < 2**31 else "long long"
            lines.append(f"[[maybe_unused]] constexpr {c_type} {name} = {value};\n")
        return "".join(lines) + source

    @property
    def host_text(self) -> str:
        """The source for a C++ compiler."""
        return expand(FOLDER / "host.h", set()) + self.text


def constants(*modules: ModuleType) -> dict[str, float]:
    """Return all upper-case numbers of the modules, by name.

    Raises:
        ValueError: if two modules have different values for a name.
    """
    numbers: dict[str, float] = {}
    for module in modules:
        for name, value in vars(module).items():
            is_number = name.isupper() and isinstance(value, (int, float))
            if is_number and numbers.setdefault(name, value) != value:
                raise ValueError(f"{name} is {numbers[name]} in one kernel module and {value} in {module.__name__}")
    return numbers


def expand(path: Path, included: set[str]) -> str:
    """Return a file's text with each include expanded once, and #line directives for the compiler's messages.

    Of a kernel module (`#include "go_row.py:copy"`) functions are included, see `alphago.cuda.python_text`.

    Args:
        included: names of the files that are included already; this file's and those of its includes are added.
    """
    included.add(path.name)
    lines = []
    for number, line in enumerate(path.read_text().splitlines(keepends=True), 1):
        include = _INCLUDE.fullmatch(line)
        if include is None:
            # An empty line in place of the pragma, so that other lines keep their numbers.
            lines.append("\n" if line == "#pragma once\n" else line)
        elif include[1] not in included:
            name, *functions = include[1].split(":")
            file = path.parent / name if (path.parent / name).is_file() else FOLDER / name
            text = cpp_text(file, functions) if file.suffix == ".py" else expand(file, included)
            included.add(include[1])
            lines.append(f'{text}#line {number + 1} "{path.name}"\n')
        else:  # included already
            lines.append("\n")
    return f'#line 1 "{path.name}"\n' + "".join(lines)

"""Compile what a page computes in WebAssembly: `python .ci/compile_wasm.py` writes alphago/ui/onefile/static/*.wasm.

A module ends with a section that has the SHA-256 of its text and of the compiler's flags; tests compare it, and compile
each module again where clang and lld have VERSION.
"""

import hashlib
import subprocess
import sys
from typing import NamedTuple

from alphago.cuda.kernel_source import Program
from alphago.env.device_rows import row_program
from alphago.env.go_cuda import PROGRAM as GO
from alphago.env.kernels import connect_four, gomoku, oware, reversi
from alphago.mcts.device_tree import PROGRAM
from alphago.ui.onefile.page import OWN_STATIC

VERSION = "14.0.6"  # of Debian's clang and lld; others write other code
FLAGS = ("--target=wasm32", "-fno-builtin", "-nostdlib", "-Wl,--no-entry", "-Wl,--export=__heap_base")
FLAGS += ("-Wl,--strip-all", "-Wl,-z,stack-size=4096")
# Without an operating system: one thread, and no instructions that came after the first WebAssembly.
RULES = ("-xc++", "-std=c++17", "-O2", "-ffp-contract=off", "-mcpu=mvp", "-Dthread_local=")
COMMON = ("start", "board_batch", "is_over_batch", "legal_mask_batch", "replay_batch", "score_batch", "ownership_batch")
ROWS = (*COMMON, "decisive_moves_batch", "planes_float32_batch")
POINTS = ("chains_batch", "own_eyes_batch", "repeating_batch", "joined_and_free_batch", "pass_alive_batch")
OF_GO = (*COMMON, *POINTS, "set_up_batch", "history_planes_float32_batch", "rule_planes_float32_batch")
OF_GO += ("katago_planes_batch",)
# Trees: PUCT alone; sqrt is an instruction.
TREE = ("clear_all", "advance", "select_puct", "select_roots", "expand")
OF_TREE = ("-fbuiltin", "-fno-builtin-memset", "-fno-builtin-memcpy", "-fno-math-errno")
SECTION = b"source"  # the name of the last section


class Module(NamedTuple):
    """A module of WebAssembly: its source and all flags of the compiler."""

    text: str
    flags: tuple[str, ...]

    @property
    def section(self) -> bytes:
        """The last section, which names the source."""
        digest = hashlib.sha256("\n".join([VERSION, *self.flags, self.text]).encode()).digest()
        content = bytes([len(SECTION)]) + SECTION + digest
        return bytes([0, len(content)]) + content

    def compile(self) -> bytes:
        """Return the module; raise CalledProcessError if the compiler fails."""
        command = ["clang", *self.flags, "-o", "/dev/stdout", "-"]
        done = subprocess.run(command, input=self.text.encode(), stdout=subprocess.PIPE, check=True)
        return done.stdout + self.section


def exporting(program: Program, names: tuple[str, ...], *flags: str) -> Module:
    """Return the module of a program's kernels."""
    return Module(program.host_text, (*FLAGS, *RULES, *flags, *(f"-Wl,--export={name}" for name in names)))


def rules(program: Program, exports: tuple[str, ...]) -> Module:
    """Return a game's module; program: that of its batch, beside which its file for a page is."""
    return exporting(Program(program.path.with_name(f"page_{program.path.name}"), program.numbers), exports)


def modules() -> dict[str, Module]:
    """Return all modules by the names of their files: the network's arithmetic, trees, each game's rules."""
    source = (OWN_STATIC / "kernels.c").read_text()
    network = Module(source, (*FLAGS, "-xc", "-O3", "-fno-math-errno", "-msimd128", "-Wl,--export-dynamic"))
    games = {"connect-four": connect_four, "gomoku": gomoku, "oware": oware, "reversi": reversi}
    of_rows = {name: rules(row_program(kernels), ROWS) for name, kernels in games.items()}
    return {"kernels": network, "tree": exporting(PROGRAM, TREE, *OF_TREE), "go": rules(GO, OF_GO), **of_rows}


if __name__ == "__main__":
    told = subprocess.run(["clang", "--version"], capture_output=True, text=True, check=True).stdout
    if VERSION not in told:
        sys.exit(f"clang must have version {VERSION}, got {told.splitlines()[0]}")
    for name, module in modules().items():
        print(f"{name}.wasm: {(OWN_STATIC / f'{name}.wasm').write_bytes(module.compile()):,} bytes")

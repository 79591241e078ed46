"""Changes lines of the package at random, and tells which changes the gate's tests see.

    python tests/mutations.py                                 # 200 changes: an hour or two of one core
    python tests/mutations.py --number 12 --only alphago/env  # after tests/env was cut
    python tests/mutations.py --commit e0c60115               # the code and the tests of another commit

A change is one of a line: a bound, a sign, one more or less, `and` for `or`, True for False, no `not`, two arguments
swapped.  It is made in a copy of the commit, and seen by the tests of the room (tests/ROOM) or by those that name the
module; the file that mirrors the module goes first.  The copy stays where it is, and with it the kernels compiled, but
for those that change.  The same seed makes the same changes of the same code.
"""

import argparse
import ast
import copy
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OTHERS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
Change = tuple[ast.expr, ast.expr]  # what stands there, and what shall


def changes_of(node: ast.AST) -> Iterator[Change]:
    """Yield the changes of the code below a node, without annotations, decorators, and what errors say."""
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr | ast.Raise):
                    yield from changes_of(child)
    if isinstance(node, ast.expr) and (other := change(node)):
        yield node, other


def change(node: ast.expr) -> ast.expr | None:
    """Return another expression, None where there is no other of the kinds."""
    new = copy.deepcopy(node)
    if isinstance(new, ast.Compare):
        new.ops[0] = OTHERS[type(new.ops[0])]()
    elif isinstance(new, ast.BinOp | ast.BoolOp) and type(new.op) in OTHERS:
        new.op = OTHERS[type(new.op)]()
    elif isinstance(new, ast.UnaryOp) and isinstance(new.op, ast.Not | ast.USub):
        return new.operand
    elif isinstance(new, ast.Constant) and isinstance(new.value, bool):
        new.value = not new.value
    elif isinstance(new, ast.Constant) and isinstance(new.value, int):
        new.value += 1 if (node.lineno + node.col_offset) % 2 else -1
    elif isinstance(new, ast.Call) and len(new.args) > 1 and not any(isinstance(a, ast.Starred) for a in new.args[:2]):
        new.args[:2] = new.args[1::-1]
    else:
        return None
    return new if ast.dump(new) != ast.dump(node) else None


def changed(source: str, place: Change) -> str:
    """Return the source with the change made."""
    node, new = place
    lines = source.encode().splitlines(keepends=True)
    before = b"".join(lines[: node.lineno - 1]) + lines[node.lineno - 1][: node.col_offset]
    after = lines[node.end_lineno - 1][node.end_col_offset :] + b"".join(lines[node.end_lineno :])
    return (before + f"({ast.unparse(new)})".encode() + after).decode()


def tests_of(module: Path, checkout: Path) -> list[str]:
    """Return the tests that touch a module (a path such as alphago/env/go/board.py), its mirror first."""
    dotted = str(module.with_suffix("")).replace("/", ".")
    room = Path("tests", *module.parts[1:2]) if len(module.parts) > 2 else Path("tests/test_package.py")
    near = sorted((checkout / room).rglob(f"test_{module.stem.strip('_')}*.py"))
    naming = [path for path in sorted((checkout / "tests").rglob("test_*.py")) if dotted in path.read_text()]
    paths = [*near, *naming, checkout / room]
    return list(dict.fromkeys(str(path.relative_to(checkout)) for path in paths if path.exists()))


def passes(tests: list[str], checkout: Path, limit: float | None) -> bool:
    """Return whether tests pass within a limit of seconds; None for any time."""
    command = [sys.executable, "-m", "pytest", "-qqx", "-n", "0", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, cwd=checkout, env=environment, stdout=-3, stderr=-3, stdin=-3, start_new_session=True
    ) as process:
        try:
            return process.wait(limit) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=200, help="changes to try")
    parser.add_argument("--only", nargs="+", default=["alphago"], help="folders or files of the package")
    parser.add_argument("--commit", default="HEAD", help="whose code and tests")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutations", help="of the copy, made anew")
    parser.add_argument("--seed", type=int, default=4444)
    options = parser.parse_args()
    checkout: Path = options.folder
    shutil.rmtree(checkout, ignore_errors=True)
    checkout.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", options.commit], cwd=ROOT, check=True, capture_output=True)
    subprocess.run(["tar", "x", "-C", checkout], input=archive.stdout, check=True)
    lines: dict[tuple[Path, int], list[Change]] = {}
    places = [checkout / only for only in options.only]
    for path in sorted(path for one in places for path in ([one] if one.is_file() else one.rglob("*.py"))):
        for place in changes_of(ast.parse(path.read_text())):
            lines.setdefault((path, place[0].lineno), []).append(place)
    chance = random.Random(options.seed)
    drawn = chance.sample(sorted(lines), min(options.number, len(lines)))
    limits: dict[str, float] = {}  # by room, after which its tests hang: four times as long as they take by themselves
    seen = 0
    for path, line in drawn:
        place, source = chance.choice(lines[path, line]), path.read_text()
        module = path.relative_to(checkout)
        *_, room = tests = tests_of(module, checkout)
        if room not in limits:
            began = time.monotonic()
            if not passes([room], checkout, None):
                print(f"{room} fails as it is: it sees anything", flush=True)
            limits[room] = 60 + 4 * (time.monotonic() - began)
        path.write_text(changed(source, place))
        sees = not passes(tests, checkout, limits[room])
        path.write_text(source)
        seen += sees
        told = f"{ast.get_source_segment(source, place[0])}  ->  {ast.unparse(place[1])}"
        print(f"{'seen  ' if sees else 'UNSEEN'} {module}:{line}  {' '.join(told.split())}", flush=True)
    print(f"{seen} of {len(drawn)} seen")


if __name__ == "__main__":
    main()

"""RemoteWork: what workers do.  A work travels as the name of a class of this package, and bytes without code."""

import hashlib
import json
import platform
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import version as installed
from pathlib import Path
from typing import Self

from alphago.system.files import parse_json

LIBRARIES = ("torch", "numpy", "numba")  # libraries whose versions may change the last bits of a game
SEAL = 16  # bytes of an answer's digest
KEPT_WORKS = 3  # number of works whose networks stay compiled, since jobs of several works may be under way


class WorkerRefused(ValueError):
    """The error raised on a worker that cannot do a work's jobs as the run would; the message says why."""


class RemoteWork(ABC):
    """Does jobs that have something in common, such as a network; several threads may call `do` at the same time.

    A job is bytes, and so is its answer, which depends on the job and the work only.
    """

    @classmethod
    @abstractmethod
    def from_bytes(cls, data: bytes, device: str = "cpu") -> Self:
        """Return the work that was published as these bytes; raise WorkerRefused if this machine cannot do it.

        device: the device of self-play's networks, "cpu" or "cuda".  Other works are done on the CPU, since their
            results must be equal to the bit.
        """

    @abstractmethod
    def do(self, job: bytes, stop: threading.Event) -> bytes | None:
        """Return the answer to a job; None if `stop` was set, and another worker must do the job again."""


class WorkBench:
    """Does jobs of the latest works; several threads may call `do` at the same time.

    fetch: returns the bytes of a work, from `to_publish`, by its name.  device: as in RemoteWork.from_bytes.
    """

    def __init__(self, fetch: Callable[[str], bytes], device: str = "cpu") -> None:
        self.fetch, self.device = fetch, device
        self.works: dict[str, RemoteWork] = {}  # the most recently used last
        self.lock = threading.Lock()

    def do(self, name: str, job: bytes, stop: threading.Event) -> bytes | None:
        """Return the answer to a job of the work called `name`, with a digest, for `unsealed`; None as RemoteWork.do.

        Raises WorkerRefused if this machine cannot do the work as the run would.
        """
        with self.lock:
            work = self.works.pop(name, None) or work_of(self.fetch(name), self.device)
            self.works[name] = work
            for old in list(self.works)[:-KEPT_WORKS]:  # the least recently used
                del self.works[old]
        answer = work.do(job, stop)
        return None if answer is None else seal_of(answer) + answer


def seal_of(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=SEAL).digest()


def unsealed(sealed: bytes) -> bytes | None:
    """Return the answer in the result of `WorkBench.do`; None if it is damaged."""
    answer = sealed[SEAL:]
    return answer if seal_of(answer) == sealed[:SEAL] else None


def to_publish(kind: type[RemoteWork], data: bytes, *, exact: bool = True) -> bytes:
    """Return the bytes from which a worker makes the work.

    data: the argument of `kind.from_bytes`.
    exact: whether answers must be equal to the bit, which also needs equal versions of libraries.
    """
    head = {"work": [kind.__module__, kind.__name__], "build": build(), "exact": exact}
    return json.dumps(head).encode() + b"\n" + data


def work_of(data: bytes, device: str = "cpu") -> RemoteWork:
    """Return the work from the bytes of `to_publish`; raise WorkerRefused if this program differs from the run's."""
    line, _, rest = data.partition(b"\n")
    head = parse_json(line)
    check_build(head["build"], exact=head["exact"])
    module, name = head["work"]
    kind = getattr(import_module(module), name) if module.startswith("alphago.") else None
    if not (isinstance(kind, type) and issubclass(kind, RemoteWork)):
        raise WorkerRefused(f"the work must be a class of this package, got {module}.{name}")
    return kind.from_bytes(rest, device)


@cache
def build() -> dict[str, str]:
    """Return what must be the same on a worker and its run: a digest of this program, and versions of libraries."""
    folder, digest = Path(__file__).parents[1], hashlib.blake2b(digest_size=8)
    for path in sorted(folder.rglob("*.py")):
        digest.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    python = ".".join(platform.python_version_tuple()[:2])
    versions = {name: installed(name).partition("+")[0] for name in LIBRARIES}
    return {"alphago": digest.hexdigest(), "python": python, **versions}


def check_build(wanted: dict[str, str], *, exact: bool) -> None:
    """Raise WorkerRefused if this worker's `build()` differs from the run's.

    wanted: the run's `build()`.
    exact: whether Python and the libraries must be equal too, not only this package.
    """
    here = build()
    compared = [name for name in wanted if exact or name == "alphago"]
    differences = [
        f"{name} {wanted[name]}, got {here.get(name)}" for name in compared if here.get(name) != wanted[name]
    ]
    if differences:
        raise WorkerRefused(f"this worker must have the same versions as the run: {', '.join(differences)}")


def traceback_of(error: BaseException) -> str:
    """Return an exception's traceback as text, for a JobAnswer."""
    return "".join(traceback.format_exception(error))

"""What workers do, what travels to them, and what carries it.

A RemoteWork travels as the name of a class of this package, and bytes without code; so do its jobs.  A Transport
carries them.
"""

import hashlib
import json
import platform
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.games import GAMES, game_reference
from alphago.system.files import parse_json
from alphago.system.npz import npz_bytes, read_npz

LIBRARIES = ("torch", "numpy", "numba")  # libraries whose versions may change the last bits of a game
HAS_LEFT = "it has left"  # why a worker that was told to leave is gone
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

        Args:
            device: the device of networks, "cpu" or "cuda".  A work whose results must be equal to the bit is done on
                the CPU.
        """

    @abstractmethod
    def do(self, job: bytes, stop: threading.Event) -> bytes | None:
        """Return the answer to a job; None if `stop` was set before it was done, so that another worker must do it."""


class WorkBench:
    """Does jobs of the latest works; several threads may call `do` at the same time.

    Args:
        fetch: returns the bytes of a work, from `to_publish`, by its name.
        device: the device of networks, "cpu" or "cuda".
    """

    def __init__(self, fetch: Callable[[str], bytes], device: str = "cpu") -> None:
        # Returns the work called `name`; the latest works are kept.
        self.work = lru_cache(KEPT_WORKS)(lambda name: read_work(fetch(name), device))
        self.lock = threading.Lock()  # so that each work is read once

    def do(self, name: str, read_job: Callable[[], bytes], stop: threading.Event) -> tuple[str, bytes]:
        """Do a job of the work called `name`; return the kind and the data of its JobAnswer.

        Args:
            read_job: returns the job as bytes.
            stop: ends the job when it is set; the answer's kind is then "gone", unless the work has a partial answer.
        """
        try:
            with self.lock:
                work = None if stop.is_set() else self.work(name)
            answer = None if work is None else work.do(read_job(), stop)
        except WorkerRefused as error:
            return "refused", str(error).encode()
        except Exception:
            return "error", traceback.format_exc().encode()
        return ("gone", b"") if answer is None else ("done", answer)


def to_publish(kind: type[RemoteWork], data: bytes, *, exact: bool = True) -> bytes:
    """Return the bytes from which a worker makes the work, with `read_work`.

    Args:
        kind: the work's class.
        data: the argument of `kind.from_bytes`.
        exact: whether answers must be equal to the bit, which also needs equal versions of libraries.
    """
    head = {"work": [kind.__module__, kind.__name__], "build": build_info(), "exact": exact}
    return json.dumps(head).encode() + b"\n" + data


def read_work(data: bytes, device: str = "cpu") -> RemoteWork:
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
def build_info() -> dict[str, str]:
    """Return what must be the same on a worker and its run: a digest of this package, and versions of libraries."""
    folder = Path(__file__).parents[1]
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(folder.rglob("*.py")):
        digest.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    versions = {name: installed(name).partition("+")[0] for name in LIBRARIES}
    return {"alphago": digest.hexdigest(), "python": ".".join(platform.python_version_tuple()[:2]), **versions}


def check_build(of_run: dict[str, str], *, exact: bool) -> None:
    """Raise WorkerRefused if this worker's `build_info()` differs from the run's.

    Args:
        of_run: the run's `build_info()`.
        exact: whether Python and the libraries must be equal too, not only this package.
    """
    own = build_info()
    compared = [name for name in of_run if exact or name == "alphago"]
    differences = [f"{name} {of_run[name]}, got {own.get(name)}" for name in compared if own.get(name) != of_run[name]]
    if differences:
        raise WorkerRefused(f"this worker must have the same versions as the run: {', '.join(differences)}")


def pack(plain: object, arrays: dict[str, np.ndarray], *, compressed: bool = False) -> bytes:
    """Convert plain data for JSON, and arrays by name, to bytes.

    The bytes are a .npz file, in which the JSON text is the array with the empty name.
    """
    return npz_bytes({"": np.frombuffer(json.dumps(plain).encode(), np.uint8), **arrays}, compressed=compressed)


def unpack(data: bytes) -> tuple[Any, dict[str, np.ndarray]]:
    """Return the plain data and the arrays that `pack` converted."""
    arrays = read_npz(data)
    return json.loads(arrays.pop("").tobytes()), arrays


def plain_game(env: GameEnv) -> list[Any]:
    """Return a game as data for JSON: its name, the value of `--game` that loads its class, and its config."""
    return [env.name, game_reference(type(env)), env.config]


def known_game(plain: list[Any]) -> GameEnv:
    """Return the game that `plain_game` converted; raise WorkerRefused if this program does not know the game."""
    name, reference, config = plain
    if name not in GAMES:
        raise WorkerRefused(f"this worker must know the game {name!r}: start it with --game {reference}")
    return GAMES[name](**config)


class JobAnswer(NamedTuple):
    """A worker's answer to the job `key`.

    Attributes:
        worker: the worker's name.
        kind: "done"; "error"; "refused" if the worker cannot do the run's work, and gets no more jobs; or "gone" if the
            worker has left before the job was done.
        data: for "done" the result of RemoteWork.do; for "error" the traceback as UTF-8; for "refused" the reason as
            UTF-8; for "gone" nothing.
    """

    worker: str
    key: str
    kind: str
    data: bytes = b""


class Transport(Protocol):
    """Carries works and jobs to workers, which come and go, and carries answers back.

    One thread calls its methods; another one may call `publish`, but not while a job is given.

    Attributes:
        is_own: whether this process starts the workers, so that their coming is no news.
        gone: why workers are gone, by the worker's name: a clause such as HAS_LEFT.  A worker of which the reason is
            not known is missing.
    """

    is_own: bool
    gone: dict[str, str]

    def publish(self, name: str, data: bytes, keep: set[str]) -> None:
        """Give workers a work, and drop all other works except those named in `keep`.

        Args:
            name: the work's name.
            data: the result of `to_publish`.
        """

    def workers(self) -> dict[str, int]:
        """Return, by the name of each worker that is there, how many jobs it does at the same time."""

    def give(self, worker: str, key: str, work: str, job: bytes) -> None:
        """Give a job to a worker; do nothing if the worker has just gone.

        Args:
            worker: the worker's name.
            key: the job's name.
            work: the name of the job's work.
            job: the job as bytes.
        """

    def answers(self) -> list[JobAnswer]:
        """Return the answers that have arrived; may wait for a short time."""

    def how_to_join(self) -> str:
        """Return how a worker can come: the end of the sentence "the run waits for a worker, and there is none: …"."""

    def close(self) -> None:
        """Release what the transport holds, such as processes and locks."""

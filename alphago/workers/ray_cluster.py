"""Ray as Transport: an actor on each node of a cluster, or some on this machine.  Only this file knows Ray."""

import itertools
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.games import GAMES
from alphago.system.optional import optional_import
from alphago.workers.transport import JobAnswer
from alphago.workers.work import WorkBench, WorkerRefused, traceback_of

NEED = "workers on a cluster need Ray: pip install 'alphago[ray]' (or let them share a folder: folder:PATH)"
# Before Ray starts: its workers would run at nice 15, it would send statistics of use, and give up within seconds where
# a machine is busy.
RAY_SETTINGS = {
    "RAY_worker_niceness": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_raylet_start_wait_time_s": "120",
}
TOKEN, TOKEN_PATH = "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"  # environment variables
LEAVING = "ALPHAGO_WORKER_LEAVES"  # environment variable: a file that exists once this node's worker has to leave
RAY_COMMAND = "from ray.scripts.scripts import main; main()"  # as the command `ray`, of this Python
ENDED = "the Ray cluster has ended; the run can go on with another"
PATIENCE = 5.0  # seconds for a cluster to answer
LOOK = 1.0  # seconds between two looks for nodes
GLANCE = 0.2  # seconds between two looks at the actors
ENDS = 1000  # workers that have ended whose reasons are kept
MOST_MISSES = 5  # looks in a row at which the head of the cluster did not answer
POLL = 0.02  # seconds to wait for answers
LAST_MOVE = 60.0  # seconds for the last moves of a worker that leaves
LAST_ANSWERS = 5.0  # seconds for a run to take its last answers


def import_ray() -> Any:
    """Import Ray with settings of ours; raise ImportError with the line that installs it."""
    for name, value in RAY_SETTINGS.items():
        os.environ.setdefault(name, value)
    if has_token() and "ray" not in sys.modules:  # which reads the mode once; later, only what it starts would have it
        os.environ.setdefault("RAY_AUTH_MODE", "token")  # of itself, Ray shows it only to clusters of this machine
    return optional_import("ray", NEED)


def has_token() -> bool:
    """Return whether a cluster's token is here."""
    return bool({TOKEN, TOKEN_PATH} & os.environ.keys()) or Path("~/.ray/auth_token").expanduser().exists()


class NodePlayer:
    """What runs on a node: an actor, whose methods several threads call.

    games: classes of games that do not come with the package, by name.
    """

    def __init__(self, games: dict[str, type[GameEnv]]) -> None:
        GAMES.update(games)
        self.works: dict[str, bytes] = {}
        self.bench = WorkBench(lambda name: self.works[name])
        self.stop = threading.Event()
        self.playing = 0  # tasks
        if leaving := os.environ.get(LEAVING):
            Path(leaving).with_suffix(".player").write_text(str(os.getpid()))
            threading.Thread(target=self._leave_with, args=(Path(leaving),), daemon=True).start()

    def ready(self) -> int:
        """Return the number of the actor's process, once it is there."""
        return os.getpid()

    def end(self) -> bool:
        """Return True, once the actor leaves."""
        return self.stop.wait()

    def play(self, work: str, data: bytes, job: bytes) -> dict[str, Any]:
        """Return fields of a JobAnswer."""
        self.playing += 1
        try:
            if work not in self.works:
                self.works = {work: data}  # the bench keeps what it has read of those before
            return {"done": None if self.stop.is_set() else self.bench.do(work, job, self.stop)}
        except WorkerRefused as error:
            return {"refused": str(error)}
        except Exception as error:
            return {"error": traceback_of(error)}
        finally:
            self.playing -= 1

    def _leave_with(self, leaving: Path) -> None:
        while not leaving.exists():
            time.sleep(POLL)
        self.stop.set()
        while self.playing:
            time.sleep(POLL)
        time.sleep(LAST_ANSWERS)  # a run that has taken them ends this process at once
        os._exit(0)


@dataclass
class Member:
    """An actor of the run's.  node: where it is; "" for anywhere on this machine.  cores: its tasks at the same time.

    ready, end: the references that are there once it is there, and once it leaves or has died.
    """

    node: str
    cores: int
    actor: Any
    ready: Any
    end: Any
    leaves: bool = False


class RayCluster:
    """A cluster as Transport; see RayProcess.

    address: the cluster's, such as "10.0.0.1:6379"; None to start one on this machine.
    count: number of workers of one core; None for one on each node, with all its cores.
    games: classes of games that do not come with the package, by name.
    Raises ImportError without Ray, ValueError if there is no cluster at the address.
    """

    def __init__(self, address: str | None, count: int | None, games: dict[str, type[GameEnv]]) -> None:
        self.ray, self.count, self.where = import_ray(), count, address or "this machine"
        if address is not None:
            check_reachable(address)
            check_token(address)
        # "local" starts one even where this machine has another, or remembers one that has ended.
        options: dict[str, Any] = {"address": address} if address else {"address": "local", "num_cpus": count}
        try:
            self.ray.init(**options, log_to_driver=False, logging_level="ERROR")
        except Exception as error:  # of many classes, by what is wrong
            raise ValueError(f"workers must name a Ray cluster that runs, got {self.where}: {error}") from error
        self.head, self.misses = self.ray.get_runtime_context().gcs_address, 0
        # Of each call's events, for its own pages, Ray would keep 5 KB on the head, up to 100 000 calls.
        self.actor = self.ray.remote(enable_task_events=False)(NodePlayer)
        self.games = games
        self.members: dict[str, Member] = {}
        self.out: set[str] = set()  # nodes
        self.ends: deque[tuple[str, str]] = deque(maxlen=ENDS)  # the latest workers that have ended, and why
        self.numbers = itertools.count(1)
        self.references: dict[str, Any] = {}  # of works
        self.asked: dict[Any, tuple[str, str]] = {}  # by the reference of an answer: worker and key
        self.looked_at = self.glanced_at = 0.0
        self.live: dict[str, int] = {}

    def publish(self, name: str, data: bytes, keep: set[str]) -> None:
        kept = {old: reference for old, reference in self.references.items() if old in keep}
        self.references = {**kept, name: self.ray.put(data)}

    def workers(self) -> dict[str, int]:
        """Return the cores of each ready worker, by name; 0 for one that is leaving.

        Looks at the actors at most every GLANCE seconds, and for nodes without one at most every LOOK seconds.
        """
        now = time.monotonic()
        if now - self.glanced_at < GLANCE:
            return self.live
        self.glanced_at = now
        if now - self.looked_at >= LOOK:
            self.looked_at = now
            if self._head_answers():
                self._add_members()
        for name in self._done({name: member.end for name, member in self.members.items()}):
            self._see_end(name)
        ready = self._done({name: member.ready for name, member in self.members.items()})
        self.live = {name: 0 if self.members[name].leaves else self.members[name].cores for name in ready}
        return self.live

    def _head_answers(self) -> bool:
        """Return whether the cluster's head can be reached; raise ConnectionError if that has failed several times.

        After a minute without it, Ray would end this process at once.
        """
        try:
            check_reachable(self.head)
            self.misses = 0
        except ValueError as error:
            self.misses += 1
            if self.misses == MOST_MISSES:
                raise ConnectionError(f"{ENDED}: {error}") from None
        return not self.misses

    def is_lost(self, error: Exception) -> bool:
        """Return whether an error is Ray's, which tells of a cluster that has ended."""
        return isinstance(error, self.ray.exceptions.RayError)

    def _done(self, references: dict[str, Any]) -> list[str]:
        """Return the names whose references are there, or have failed."""
        names = {reference: name for name, reference in references.items()}
        there = self.ray.wait(list(names), num_returns=len(names), timeout=0)[0] if names else []
        return [names[reference] for reference in there]

    def _add_members(self) -> None:
        """Put an actor on each node that has none."""
        if self.count is not None:
            wanted = [("", 1)] * (self.count - len(self.members))
        else:
            taken = {*self.out, *(member.node for member in self.members.values())}
            nodes = {n["NodeID"]: int(n["Resources"].get("CPU", 0)) for n in self.ray.nodes() if n["Alive"]}
            wanted = [(node, cores) for node, cores in nodes.items() if cores and node not in taken]
        for node, cores in wanted:
            options: dict[str, Any] = {"num_cpus": cores, "max_concurrency": cores + 2}
            if node:
                strategy = self.ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
                options["scheduling_strategy"] = strategy
            actor = self.actor.options(**options).remote(self.games)
            name = f"{node[:8] or 'local'}-{next(self.numbers)}"
            self.members[name] = Member(node, cores, actor, actor.ready.remote(), actor.end.remote())

    def _see_end(self, name: str) -> None:
        """Let a worker leave once it has answered, and drop one that has died."""
        member = self.members[name]
        try:
            member.leaves = self.ray.get(member.end)
        except Exception as error:  # it has died
            low = isinstance(error, self.ray.exceptions.OutOfMemoryError)
            why = "Ray has ended it, as its machine is low on memory" if low else str(error).partition("\n")[0]
        else:
            why = "it has left"
            if name in (worker for worker, _ in self.asked.values()):
                return
            self.leave_out(name, why)
        self.members.pop(name, None)
        self.ends.append((name, why))

    def give(self, worker: str, key: str, work: str, job: bytes) -> None:
        if worker in self.members:
            asked = self.members[worker].actor.play.remote(work, self.references[work], job)
            self.asked[asked] = worker, key

    def answers(self) -> list[JobAnswer]:
        if not self.asked:
            time.sleep(POLL)
            return []
        found = []
        self.ray.wait(list(self.asked), num_returns=1, timeout=POLL)  # for the first; the next call takes all there are
        there, _ = self.ray.wait(list(self.asked), num_returns=len(self.asked), timeout=0)
        for reference in there:
            worker, key = self.asked.pop(reference)
            with suppress(self.ray.exceptions.RayError):  # the worker has died, which `workers` tells
                found.append(JobAnswer(worker, key, **self.ray.get(reference)))
        return found

    def why_gone(self, worker: str) -> str:
        return dict(self.ends).get(worker, "")

    def leave_out(self, worker: str, why: str) -> None:
        if member := self.members.pop(worker, None):
            self.out.add(member.node)
            self.ray.kill(member.actor)

    def how_to_join(self) -> str:
        there, free = self.ray.cluster_resources().get("CPU", 0), self.ray.available_resources().get("CPU", 0)
        wanted = sum(member.cores for member in self.members.values())
        last = f"the last worker has ended: {self.ends[-1][1]}; " if self.ends else ""
        join = f"on each machine to add, start: alphago worker {self.ray.get_runtime_context().gcs_address}"
        return (
            f"{counted(wanted, 'core')} wanted, {counted(free)} free of the {there:g} of the cluster at {self.where} "
            f"(a worker that is starting has taken its own); {last}{join}"
        )

    def cores(self) -> int:
        """Return the number of the cluster's cores."""
        return int(self.ray.cluster_resources().get("CPU", 1))

    def close(self) -> None:
        if self.misses:  # without a head, Ray would wait for it
            return
        for member in self.members.values():
            self.ray.kill(member.actor)
        self.ray.shutdown()


def counted(number: float, noun: str = "") -> str:
    """Return a number with its noun and verb."""
    return f"{number:g} {noun and noun + 's' * (number != 1) + ' '}{'is' if number == 1 else 'are'}"


def check_reachable(address: str) -> None:
    """Raise ValueError if nothing answers at a cluster's address, for which Ray would wait long."""
    host, colon, port = address.rpartition(":")
    if not colon:
        raise ValueError(f"a Ray cluster's address must be HOST:PORT, got {address}")
    try:
        socket.create_connection((host, int(port)), PATIENCE).close()
    except (OSError, ValueError, OverflowError) as error:
        raise ValueError(f"a Ray cluster must answer at {address}: {error}") from None


def check_token(address: str) -> None:
    """Raise ValueError if the cluster at an address wants a token that is not here; Ray itself would try for long."""
    file = os.environ.get(TOKEN_PATH)
    if file and not (Path(file).is_file() and Path(file).stat().st_size):  # where Ray would abort this process
        raise ValueError(f"{TOKEN_PATH} must name a file with the cluster's token, got {file}")
    need = "copy ~/.ray/auth_token of the machine where it was started to this one"
    missing = ValueError(f"the Ray cluster at {address} wants its token, which is not here: {need}")
    if os.environ.get("RAY_AUTH_MODE") == "token" and not has_token():  # where Ray would end this process
        raise missing
    from ray.exceptions import AuthenticationError

    try:
        client: Any = import_module("ray._raylet").GcsClient  # no public name asks for less than all that a run needs
        with silent_errors():  # of libraries, which write a line of their own
            client(address=address)
    except (ImportError, AttributeError):
        return
    except AuthenticationError:
        raise missing from None


@contextmanager
def silent_errors() -> Iterator[None]:
    """Let nothing be written to the file descriptor of standard error within the block."""
    before, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nowhere)


def cause_in(log: str) -> str:
    """Return the last exception in the output of a program, or its end where there is none."""
    *_, last = [None, *re.finditer(r"^[\w.]*(?:Error|Exception): ", log, re.MULTILINE)]
    return log[-600:] if last is None else log[last.start() :].strip()


def join_cluster(address: str, cores: int, stop: threading.Event, tell: Callable[[str], object] = print) -> None:
    """Be a node of a Ray cluster until `stop` is set; then leave, after at most one move of its games.

    Raises ValueError if the cluster does not take this machine.
    """
    import_ray()
    check_reachable(address)
    check_token(address)
    with tempfile.TemporaryDirectory() as folder, open(Path(folder, "log"), "w+") as log:
        leaving = Path(folder, "leave")
        node = subprocess.Popen(
            [sys.executable, "-c", RAY_COMMAND, "start", f"--address={address}", f"--num-cpus={cores}", "--block"],
            env={**os.environ, LEAVING: str(leaving)},
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for this process, which leaves in order
        )
        tell(f"this machine joins the cluster at {address} with {cores} core{'s' * (cores != 1)}")
        while node.poll() is None and not stop.wait(0.1):
            pass
        if not stop.is_set():
            log.seek(0)
            cause = cause_in(log.read())
            raise ValueError(f"the cluster at {address} does not take this machine, or has ended: {cause}")
        tell("this machine leaves the cluster, after the move in hand")
        leaving.touch()
        last = time.monotonic() + LAST_MOVE
        while player_lives(leaving.with_suffix(".player")) and time.monotonic() < last:
            time.sleep(POLL)
        node.terminate()
        node.wait()


def player_lives(file: Path) -> bool:
    """Return whether the process lives whose number an actor of this node has written to a file."""
    with suppress(OSError, ValueError):
        os.kill(int(file.read_text()), 0)
        return True
    return False


def cluster_here() -> str | None:
    """Return the address of the Ray cluster that runs on this machine, or that RAY_ADDRESS names; without Ray.

    Returns None if there is none, also where one was killed and has left its address.
    """
    if (named := os.environ.get("RAY_ADDRESS", "auto")) != "auto":
        return named
    with suppress(OSError, ValueError):
        address = Path(os.environ.get("RAY_TMPDIR", tempfile.gettempdir()), "ray", "ray_current_cluster").read_text()
        check_reachable(address.strip())
        return address.strip()
    return None

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
from alphago.system.children import child_environment, python_command
from alphago.system.kernels.private_folder import ROOT
from alphago.system.optional import optional_import
from alphago.workers.transport import JobAnswer
from alphago.workers.work import WorkBench, WorkerRefused, traceback_of

NEED = "workers on a cluster need Ray: pip install 'alphago[ray]' (or let them share a folder: folder:PATH)"
# Environment variables, to be set before Ray starts.  Without them its workers would run at nice 15, it would send
# usage statistics, and it would give up within seconds on a busy machine.
RAY_SETTINGS = {
    "RAY_worker_niceness": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_raylet_start_wait_time_s": "120",
}
TOKEN, TOKEN_PATH = "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"  # environment variables
LEAVING = "ALPHAGO_WORKER_LEAVES"  # environment variable: a file that is made when this node's worker must leave
RAY_COMMAND = "from ray.scripts.scripts import main; main()"  # what the command `ray` runs
STDERR = 2  # the file descriptor of standard error
ENDED = "the Ray cluster has ended; the run can go on with another"
PATIENCE = 5.0  # longest time in seconds for a cluster to answer
LOOK = 1.0  # seconds between two looks for nodes
GLANCE = 0.2  # seconds between two looks at the actors
ENDS = 1000  # number of workers that have ended whose reasons are kept
MOST_MISSES = 5  # number of times in a row that the cluster's head did not answer, at which it counts as lost
POLL = 0.02  # seconds to wait for answers
LAST_MOVE = 60.0  # seconds that a worker that leaves has for its last moves
LAST_ANSWERS = 5.0  # seconds that a run has to take the last answers of a worker that leaves


def import_ray() -> Any:
    """Import Ray with our settings; raise ImportError with the command that installs it."""
    for name, value in RAY_SETTINGS.items():
        os.environ.setdefault(name, value)
    if has_token() and "ray" not in sys.modules:  # Ray reads the mode only when it is imported
        # By default, Ray sends the token only to clusters on this machine.
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    return optional_import("ray", NEED)


def has_token() -> bool:
    """Return whether a cluster's token is here."""
    return bool({TOKEN, TOKEN_PATH} & os.environ.keys()) or Path("~/.ray/auth_token").expanduser().exists()


class NodePlayer:
    """The actor that runs on a node; several threads call its methods.

    games: classes of games that do not come with the package, by name.
    """

    def __init__(self, games: dict[str, type[GameEnv]]) -> None:
        GAMES.update(games)
        self.works: dict[str, bytes] = {}
        self.bench = WorkBench(lambda name: self.works[name])
        self.stop = threading.Event()
        self.playing = 0  # number of tasks in progress
        if leaving := os.environ.get(LEAVING):
            Path(leaving).with_suffix(".player").write_text(str(os.getpid()))
            threading.Thread(target=self._leave_with, args=(Path(leaving),), daemon=True).start()

    def ready(self) -> int:
        """Return the actor's process id; Ray answers this call once the actor has started."""
        return os.getpid()

    def end(self) -> bool:
        """Return True when the actor leaves."""
        return self.stop.wait()

    def play(self, work: str, data: bytes, job: bytes) -> dict[str, Any]:
        """Do a job of a work, whose bytes are `data`; return fields of a JobAnswer."""
        self.playing += 1
        try:
            if work not in self.works:
                self.works = {work: data}  # the bench keeps the works that it has read before
            return {"done": None if self.stop.is_set() else self.bench.do(work, job, self.stop)}
        except WorkerRefused as error:
            return {"refused": str(error)}
        except Exception as error:
            return {"error": traceback_of(error)}
        finally:
            self.playing -= 1

    def _leave_with(self, leaving: Path) -> None:
        """Wait for the file `leaving`; then end the tasks after their moves, and this process.  A thread's work."""
        while not leaving.exists():
            time.sleep(POLL)
        self.stop.set()
        while self.playing:
            time.sleep(POLL)
        time.sleep(LAST_ANSWERS)  # a run that has taken the last answers kills this process before
        os._exit(0)


@dataclass
class Member:
    """An actor of the run.

    node: the id of its node; "" for anywhere on this machine.  cores: number of its tasks at the same time.
    ready: a reference to a result that is there once the actor has started.
    end: a reference to a result that is there once the actor leaves or has died.
    leaves: whether the actor is leaving.
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
        # "local" starts a cluster even if this machine has another cluster, or remembers a cluster that has ended.
        options: dict[str, Any] = {"address": address} if address else {"address": "local", "num_cpus": count}
        try:
            self.ray.init(**options, log_to_driver=False, logging_level="ERROR")
        except Exception as error:  # Ray raises errors of many classes
            cause = with_advice(str(error))
            raise ValueError(f"workers must name a Ray cluster that runs, got {self.where}: {cause}") from error
        self.head = self.ray.get_runtime_context().gcs_address
        self.misses = 0  # number of times in a row that the head did not answer
        # Otherwise the head would keep 5 KB of events for each of up to 100 000 calls, for Ray's dashboard.
        self.actor = self.ray.remote(enable_task_events=False)(NodePlayer)
        self.games = games
        self.members: dict[str, Member] = {}
        self.out: set[str] = set()  # nodes that are left out
        self.ends: deque[tuple[str, str]] = deque(maxlen=ENDS)  # the latest workers that have ended, and why
        self.numbers = itertools.count(1)
        self.references: dict[str, Any] = {}  # references to works, by name
        self.asked: dict[Any, tuple[str, str]] = {}  # by the reference to an answer: worker and key
        self.looked_at = self.glanced_at = 0.0  # when `workers` last looked for nodes, and at the actors
        self.live: dict[str, int] = {}

    def publish(self, name: str, data: bytes, keep: set[str]) -> None:
        kept = {old: reference for old, reference in self.references.items() if old in keep}
        self.references = {**kept, name: self.ray.put(data)}

    def workers(self) -> dict[str, int]:
        """Return the cores of each ready worker, by name; 0 for a worker that is leaving.

        This method looks at the actors at most every GLANCE seconds, and for nodes without an actor at most every LOOK
        seconds.
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

        After a minute without its head, Ray would end this process at once.
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
        """Return whether an error is one of Ray's, which means that the cluster has ended."""
        return isinstance(error, self.ray.exceptions.RayError)

    def _done(self, references: dict[str, Any]) -> list[str]:
        """Return the names whose references have a result or an error."""
        names = {reference: name for name, reference in references.items()}
        there = self.ray.wait(list(names), num_returns=len(names), timeout=0)[0] if names else []
        return [names[reference] for reference in there]

    def _add_members(self) -> None:
        """Start an actor on each node that has none; or, with `count`, so many of one core wherever Ray puts them."""
        if self.count is not None:
            wanted = [("", 1)] * (self.count - len(self.members))  # "": Ray chooses the node
        else:
            taken = {*self.out, *(member.node for member in self.members.values())}
            alive = [node for node in self.ray.nodes() if node["Alive"]]
            cores_of = {node["NodeID"]: int(node["Resources"].get("CPU", 0)) for node in alive}
            wanted = [(node, cores) for node, cores in cores_of.items() if cores and node not in taken]
        for node, cores in wanted:
            # + 2: the calls of `ready` and of `end`, which returns only when the actor leaves.
            options: dict[str, Any] = {"num_cpus": cores, "max_concurrency": cores + 2}
            if node:
                strategy = self.ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
                options["scheduling_strategy"] = strategy
            actor = self.actor.options(**options).remote(self.games)
            name = f"{node[:8] or 'local'}-{next(self.numbers)}"
            self.members[name] = Member(node, cores, actor, actor.ready.remote(), actor.end.remote())

    def _see_end(self, name: str) -> None:
        """Remove a worker whose `end` has returned: at once if it has died, else when it has answered its tasks."""
        member = self.members[name]
        try:
            self.ray.get(member.end)  # raises if it has died
            member.leaves = True
        except Exception as error:  # it has died
            is_low = isinstance(error, self.ray.exceptions.OutOfMemoryError)
            why = "Ray has ended it, as its machine is low on memory" if is_low else str(error).partition("\n")[0]
        else:
            why = "it has left"
            has_tasks = name in (worker for worker, _ in self.asked.values())
            if has_tasks:
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
        self.ray.wait(list(self.asked), num_returns=1, timeout=POLL)  # for the first answer
        there, _ = self.ray.wait(list(self.asked), num_returns=len(self.asked), timeout=0)  # all answers
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
        there = self.ray.cluster_resources().get("CPU", 0)
        free = self.ray.available_resources().get("CPU", 0)
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
        if self.misses:  # Ray would wait for the lost head
            return
        for member in self.members.values():
            self.ray.kill(member.actor)
        self.ray.shutdown()


def counted(number: float, noun: str = "") -> str:
    """Return a number with its noun and verb, such as "2 cores are", or without a noun "2 are"."""
    if number == 1:
        words = [noun, "is"]
    else:
        words = [noun and f"{noun}s", "are"]
    return " ".join(filter(None, [f"{number:g}", *words]))


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
    if file and not (Path(file).is_file() and Path(file).stat().st_size):  # Ray would abort this process
        raise ValueError(f"{TOKEN_PATH} must name a file with the cluster's token, got {file}")
    need = "copy ~/.ray/auth_token of the machine where it was started to this one"
    missing = ValueError(f"the Ray cluster at {address} wants its token, which is not here: {need}")
    if os.environ.get("RAY_AUTH_MODE") == "token" and not has_token():  # where Ray would end this process
        raise missing
    from ray.exceptions import AuthenticationError

    try:
        # No public function connects without all that a run needs.
        client: Any = import_module("ray._raylet").GcsClient
        with silent_errors():  # Ray's libraries would write a line of their own
            client(address=address)
    except (ImportError, AttributeError):  # another version of Ray, with which connecting shows the error
        return
    except AuthenticationError:
        raise missing from None


@contextmanager
def silent_errors() -> Iterator[None]:
    """Let nothing be written to the file descriptor of standard error within the block."""
    before, nowhere = os.dup(STDERR), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, STDERR)
        yield
    finally:
        os.dup2(before, STDERR)
        os.close(before)
        os.close(nowhere)


def cause_in(log: str) -> str:
    """Return the last exception in the output of a program; without an exception, the end of the output."""
    exceptions = list(re.finditer(r"^[\w.]*(?:Error|Exception): ", log, re.MULTILINE))
    return log[exceptions[-1].start() :].strip() if exceptions else log[-600:]


def with_advice(cause: str) -> str:
    """Return Ray's message; if the name of a socket is too long for the system, with what to change."""
    if "AF_UNIX" not in cause:
        return cause
    folder = os.environ.get("RAY_TMPDIR", tempfile.gettempdir())
    return (
        f"{cause}; the folder of temporary files, {folder}, has too long a name for Ray: set RAY_TMPDIR to a short one"
    )


def join_cluster(address: str, cores: int, stop: threading.Event, tell: Callable[[str], object] = print) -> None:
    """Make this machine a node of a Ray cluster until `stop` is set; then leave, after at most one move of its games.

    address: the cluster's.  cores: the number of cores to offer.  tell: called with sentences about what happens.
    Raises ValueError if the cluster refuses this machine.
    """
    import_ray()
    check_reachable(address)
    check_token(address)
    with tempfile.TemporaryDirectory() as folder, open(Path(folder, "log"), "w+") as log:
        leaving = Path(folder, "leave")
        node = subprocess.Popen(
            python_command("-c", RAY_COMMAND, "start", f"--address={address}", f"--num-cpus={cores}", "--block"),
            env={**child_environment(), LEAVING: str(leaving)},
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C reaches only this process, which leaves in order
        )
        tell(f"this machine joins the cluster at {address} with {cores} core{'s' * (cores != 1)}")
        while node.poll() is None and not stop.wait(0.1):
            pass
        if not stop.is_set():  # the node has ended by itself
            log.seek(0)
            cause = with_advice(cause_in(log.read()))
            raise ValueError(f"the cluster at {address} does not take this machine, or has ended: {cause}")
        tell("this machine leaves the cluster, after the move in hand")
        leaving.touch()  # the node's actor waits for this file, and ends after its moves
        until = time.monotonic() + LAST_MOVE
        while player_lives(leaving.with_suffix(".player")) and time.monotonic() < until:
            time.sleep(POLL)
        node.terminate()
        node.wait()


def player_lives(file: Path) -> bool:
    """Return whether an actor of this node is alive; file: where the actor has written its process id."""
    with suppress(OSError, ValueError):
        os.kill(int(file.read_text()), 0)  # signal 0 only asks whether the process is there
        return True
    return False


def cluster_here() -> str | None:
    """Return the address of the Ray cluster that runs on this machine, or that RAY_ADDRESS names; None without one.

    Ray is not imported.  The address that a killed cluster has left does not count, nor one that another user than root
    has left: a cluster sends objects whose reading runs code.
    """
    if (named := os.environ.get("RAY_ADDRESS", "auto")) != "auto":
        return named
    path = Path(os.environ.get("RAY_TMPDIR", tempfile.gettempdir()), "ray", "ray_current_cluster")
    with suppress(OSError, ValueError), path.open() as file:
        address = file.read().strip()
        is_own = sys.platform == "win32" or os.fstat(file.fileno()).st_uid in (os.geteuid(), ROOT)
        if is_own:
            check_reachable(address)
            return address
    return None

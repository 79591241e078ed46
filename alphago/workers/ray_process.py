"""RayProcess: a Ray cluster as Transport, in a process of its own, since Ray ends its process where its node ends."""

import os
import pickle
import subprocess
import sys
from functools import partialmethod
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.games import is_packaged
from alphago.system.live_bar import LiveBar
from alphago.workers.ray_cluster import ENDED, RayCluster, import_ray
from alphago.workers.work import traceback_of

PATIENCE = 30.0  # seconds for the process to end


class RayProcess:
    """The run's side, whose calls a RayCluster in the process answers.

    address, count: as in RayCluster.  env: the run's game, if it has one.
    Raises ImportError without Ray, ValueError if there is no cluster at the address.
    """

    def __init__(self, address: str | None, count: int | None, env: GameEnv | None = None) -> None:
        games = {} if env is None or is_packaged(type(env)) else {env.name: type(env)}
        # A class of a script travels as code, one of a module as its name.
        arguments = import_ray().cloudpickle.dumps((address, count, games))
        self.connection, its_end = Pipe()
        with its_end:
            # Not for Ctrl-C, which ends the run in order.
            words = [sys.executable, "-m", __name__]
            self.process = subprocess.Popen(words, stdin=its_end.fileno(), start_new_session=True)
        where = "starts Ray on this machine" if address is None else f"connects to the Ray cluster at {address}"
        try:
            with LiveBar(desc=where, bar_format="{desc}: {elapsed}", leave=False):
                self.connection.send((sys.path, sys.argv[0]))
                self._call("connect", arguments)
        except BaseException:
            self.close()
            raise

    def _call(self, name: str, *arguments: Any) -> Any:
        """Return what a method of the RayCluster returns, or raise what it raises."""
        try:
            self.connection.send((name, arguments))
            result, error = self.connection.recv()
        except (EOFError, OSError):
            raise ConnectionError(ENDED) from None
        if error is not None:
            raise error
        return result

    publish = partialmethod(_call, "publish")
    workers = partialmethod(_call, "workers")
    give = partialmethod(_call, "give")
    answers = partialmethod(_call, "answers")
    why_gone = partialmethod(_call, "why_gone")
    leave_out = partialmethod(_call, "leave_out")
    how_to_join = partialmethod(_call, "how_to_join")
    cores = partialmethod(_call, "cores")

    def close(self) -> None:
        self.connection.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class ClusterServer:
    """What answers in the process."""

    cluster: RayCluster | None = None

    def connect(self, arguments: bytes) -> None:
        self.cluster = RayCluster(*pickle.loads(arguments))

    def answer(self, name: str, arguments: tuple[Any, ...]) -> tuple[Any, Exception | None]:
        """Return a method's result, and the error that it has raised."""
        owner = self if self.cluster is None else self.cluster  # of `connect`, and of all other methods
        try:
            return getattr(owner, name)(*arguments), None
        except (ImportError, ValueError, ConnectionError) as error:
            return None, type(error)(str(error))
        except Exception as error:
            if self.cluster is None or not self.cluster.is_lost(error):
                return None, RuntimeError(traceback_of(error))
            self.cluster = None  # with nothing left to shut down
            return None, ConnectionError(f"{ENDED}: {error}")

    def serve(self, connection: Connection) -> None:
        """Answer until the run closes its side, or dies."""
        # Ray lets its workers look for modules where its process does.
        sys.path[:], sys.argv[0] = connection.recv()
        try:
            while True:
                connection.send(self.answer(*connection.recv()))
        except (EOFError, OSError):
            if self.cluster is not None:
                self.cluster.close()


if __name__ == "__main__":
    own = os.dup(0)  # what Ray starts would else inherit it, and hold it open after this process
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    ClusterServer().serve(Connection(own))
    os._exit(0)  # without a head, Ray would wait for it

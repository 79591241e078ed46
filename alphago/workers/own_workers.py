"""OwnWorkers: workers in processes of this machine, which share a folder of temporary files with the run."""

import subprocess
import sys
import threading
from tempfile import TemporaryDirectory

from alphago.env.game import GameEnv
from alphago.env.games import GAMES, importable_name, is_packaged
from alphago.system.children import exit_when_input_ends, start_child
from alphago.system.own_modules import import_class
from alphago.workers.shared_folder import LEFT, WORKERS, FolderWorker, SharedFolder

MOST_FALSE_STARTS = 3  # for each worker: after so many processes that ended before they began, no other is started


class OwnWorkers(SharedFolder):
    """A Transport to workers of one core each, which this process starts; one that ends is replaced.

    Args:
        count: number of workers.
        env: the run's game; None if workers need no game.

    Raises:
        ValueError: for a game that another process cannot import.
    """

    is_own = True

    def __init__(self, count: int, env: GameEnv | None = None) -> None:
        self.count = count
        game = "" if env is None or is_packaged(type(env)) else importable_name(env, who="workers")
        self.files = TemporaryDirectory(prefix="alphago-workers-")
        super().__init__(self.files.name)
        self.command: tuple[str, ...] = ("-m", __name__, str(self.path), game)
        self.processes: list[subprocess.Popen[bytes]] = []
        self.false_starts = 0  # processes that have ended before they were live workers

    def workers(self) -> dict[str, int]:
        """Return the live workers, and start processes in place of those that have ended.

        Raises:
            ChildProcessError: if a worker has failed by an exception, or too many could not begin.
        """
        for process in [process for process in self.processes if process.poll() is not None]:
            self.processes.remove(process)
            self._note_end(process)
        while len(self.processes) < self.count:
            self.processes.append(start_child(*self.command))
        return super().workers()

    def _note_end(self, process: subprocess.Popen[bytes]) -> None:
        """Mark the worker of a process that has ended as gone; raise ChildProcessError as `workers` does."""
        process.communicate()  # closes its pipe
        if process.returncode == 1:  # an exception, whose traceback Python has printed
            raise ChildProcessError("a worker's process has failed, and the error that it has printed says why")
        folders = list(self.path.glob(f"{WORKERS}/*-{process.pid}-*"))  # none if the process ended before it joined
        for folder in folders:
            (folder / LEFT).touch()
            self.gone[folder.name] = "its process has ended"
        has_lived = any(folder.name in self.live for folder in folders)
        self.false_starts += not has_lived
        if self.false_starts >= MOST_FALSE_STARTS * self.count:
            raise ChildProcessError(
                f"{self.false_starts} processes of workers have ended before they began, the last with code "
                f"{process.returncode} (-9: killed, as for want of memory; -11: a fault in compiled code; "
                "0: by itself, as at the import of a game that ends the program)"
            )

    def how_to_join(self) -> str:
        return "its workers start"

    def close(self) -> None:
        """End the workers and remove their files."""
        for process in self.processes:
            process.kill()  # nothing is lost, since its files are temporary
            process.communicate()
        super().close()
        self.files.cleanup()


if __name__ == "__main__":
    exit_when_input_ends()
    path, game = sys.argv[1:]
    if game:
        kind = import_class(game)
        GAMES[kind.name] = kind
    FolderWorker(path, 1, tell=str).work(threading.Event())

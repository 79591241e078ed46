"""`play` in a process of its own, at a real terminal."""

import os
import select
import signal
import subprocess
import sys
import time

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals")]


def test_interrupts_at_a_prompt_and_while_the_engine_thinks():
    code = "from alphago import GoEnv, play; play(GoEnv(5), num_readouts=4, tower_height=1)"
    with Terminal(f"{code}; play(GoEnv(5), num_readouts=1_000_000, tower_height=1, mode=1)") as terminal:
        terminal.read_until("Your move")
        terminal.type("c3")
        assert "played" in terminal.read_until("Your move")
        assert "Traceback" not in terminal.interrupt("You left the game after 2 moves.")
        terminal.read_until("thinking.")
        assert "Traceback" not in terminal.interrupt("You left the game after 0 moves.")
        assert terminal.process.wait(60) == 0


def test_lines_are_edited_and_completed():
    pytest.importorskip("readline")
    with Terminal("from alphago import GoEnv, play; play(GoEnv(5), num_readouts=4, tower_height=1)") as terminal:
        terminal.read_until("Your move")
        terminal.type("xb1\x1b[D\x1b[D\x7f")  # two steps to the left, the first letter away
        assert "played" in terminal.read_until("Your move")
        terminal.type("sc\t")
        terminal.read_until("If the game ended here")
        terminal.read_until("Your move")
        terminal.type("\x1b[A")  # the line before
        terminal.read_until("If the game ended here")
        terminal.read_until("Your move")
        terminal.type("q")
        terminal.read_until("You left the game after 2 moves.")


class Terminal:
    """A Python process on a pseudo-terminal."""

    def __init__(self, code: str) -> None:
        import pty

        self.shown = ""  # and not yet returned
        self.ours, theirs = pty.openpty()
        # Started in the background, this process ignores Ctrl-C, and its children would with it.
        heeding = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
        command = [sys.executable, "-c", f"{heeding}; {code}"]
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.kill()
        self.process.wait()
        os.close(self.ours)

    def type(self, line: str) -> None:
        os.write(self.ours, line.encode() + b"\n")

    def interrupt(self, text: str) -> str:
        """Ctrl-C, then what is shown up to and with `text`.

        CPython overlooks a signal that comes between the prompt and the wait for a line, until the next one.
        """
        time.sleep(0.5)
        self.process.send_signal(signal.SIGINT)
        try:
            return self.read_until(text, 600)
        except TimeoutError:
            self.process.send_signal(signal.SIGINT)
            return self.read_until(text)

    def read_until(self, text: str, seconds: float = 120) -> str:
        """What was shown up to and with `text`; what came after it is left for the next call."""
        end = time.monotonic() + seconds
        while text not in self.shown:
            ready, _, _ = select.select([self.ours], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise TimeoutError(self.shown)
            self.shown += os.read(self.ours, 4096).decode()
        before, _, self.shown = self.shown.partition(text)
        return before + text

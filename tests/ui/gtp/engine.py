"""An engine as a controller sees it: lines go in, replies come out."""

import io
import queue
import re
import threading
import time

from alphago import GoEnv
from alphago.mcts.evaluator import UniformEvaluator
from alphago.ui.gtp.game_commands import GoEngine
from alphago.ui.gtp.protocol import converse

BLACK, WHITE = 1, -1
NAMES = """
protocol_version known_command list_commands quit name version boardsize clear_board komi play genmove
reg_genmove undo showboard fixed_handicap place_free_handicap set_free_handicap kgs-rules kata-set-rules
kata-get-rules time_settings time_left kgs-time_settings kata-time_settings kata-list_time_settings cputime
final_score final_status_list kgs-genmove_cleanup kgs-game_over loadsgf printsgf kata-get-param kata-set-param
kata-list-params kata-get-params lz-analyze kata-analyze lz-genmove_analyze kata-genmove_analyze kata-raw-nn
stop clear_cache gogui-analyze_commands alphago-ownership alphago-policy alphago-search
"""
COMMANDS = "\n".join(NAMES.split())  # in the order of `list_commands`


def engine(size: int = 5, network=None, readouts: int = 8, **options) -> GoEngine:
    return GoEngine(GoEnv(size), network or UniformEvaluator(), readouts, **options)


def ask(game: GoEngine, *lines: str) -> list[str]:
    """The replies without their frames: 'A1', or '? illegal move'."""
    output = io.StringIO()
    converse(game.commands, lines, output)
    replies = output.getvalue().split("\n\n")
    assert replies.pop() == ""
    return [text if text[0] == "?" else text.removeprefix("= ") for text in replies]


def converses(gtp: GoEngine, *dialogues: str) -> None:
    """Check the replies to commands, such as "play b c3; genmove w = *; moves = B C3, W D4".

    A command without a reply has an empty one; `*` is any that is no failure, `+` a point; `moves` are the position's.
    """
    any_reply = {"*": r"(?!\?)[\s\S]*", "+": r"[A-T]\d+"}
    for line in re.split(r";\s*", "; ".join(dialogues)):
        command, _, reply = line.partition(" = ")
        (told,) = [gtp.game.position.moves_text()] if command == "moves" else ask(gtp, command)
        assert re.fullmatch(any_reply.get(reply, re.escape(reply)), told), (line, told)


def turns_until_resignation(gtp: GoEngine, most: int = 60) -> int | None:
    """Return how many moves the engine plays, by turns for both sides, until it resigns; None if it does not."""
    for turn in range(most):
        colour = "b" if gtp.game.to_play > 0 else "w"
        if ask(gtp, f"genmove {colour}") == ["resign"]:
            return turn
        if gtp.game.is_over:
            return None
    return None


class Controller:
    """A controller that sends lines one by one while the engine runs in a thread, and reads what comes back."""

    def __init__(self, gtp: GoEngine) -> None:
        self.sent: queue.Queue[str | None] = queue.Queue()
        self.output = io.StringIO()
        self.read = 0  # characters of output
        self.analysing = False
        self.thread = threading.Thread(target=self.serve, args=(gtp,), daemon=True)
        self.thread.start()

    def serve(self, gtp: GoEngine) -> None:
        converse(gtp.commands, iter(self.sent.get, None), self.output, on_idle=gtp.ponder, on_line=gtp.stop_background)

    def send(self, line: str) -> None:
        self.sent.put(line)

    def line(self) -> str:
        """Return the next line of output, without its end."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            fresh, newline, _ = self.output.getvalue()[self.read :].partition("\n")
            if newline:
                self.read += len(fresh) + 1
                return fresh
            time.sleep(0.001)
        raise AssertionError(f"no line after {self.output.getvalue()!r}")

    def rest(self) -> list[str]:
        """Return the lines up to the next empty one, which ends a reply."""
        return list(iter(self.line, ""))

    def ask(self, line: str) -> str:
        """Return the reply to a line, without its frame."""
        self.send(line)
        return "\n".join(self.rest()).removeprefix("=").strip()

    def analyse(self, line: str) -> str:
        """Begin an analysis, after the end of the one that runs, and return its first report."""
        if self.analysing:
            self.stop(line)
        else:
            self.send(line)
        self.analysing = True
        assert self.line() == "="
        return self.line()

    def stop(self, line: str) -> None:
        """Send a line, which ends the analysis that runs."""
        self.send(line)
        self.rest()
        self.analysing = False

    def end(self) -> None:
        self.sent.put(None)
        self.thread.join(60)
        assert not self.thread.is_alive()

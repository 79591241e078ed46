"""What stands on one page: a game with its variations, who plays, how strong the engine is, and what it is doing."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from alphago.env.game import GameEnv
from alphago.ui.web.engines import Engine, Engines
from alphago.ui.web.game_tree import GameTree
from alphago.ui.web.limits import Strength, most_readouts
from alphago.ui.web.new_game import link_of
from alphago.ui.web.thinking import Thinker, remember
from alphago.ui.web.views import game_view, position_view, result_view

HUMAN, ENGINE = "human", "engine"
PLAYERS = (HUMAN, ENGINE)
REPORT_SECONDS = 0.12  # between two messages of one search
READING_SHARE = 0.02  # reading a large tree for a message takes time: at most this share of the search's


@dataclass
class Job:
    """What the engine is doing.

    purpose: "move", search and play; "analyse", search the position until told to stop; "review", search all `nodes`.
    nodes: the numbers of the nodes to search; the first is searched now.
    readouts, seconds: limits of the search of one position; None for no limit.
    done, began: readouts so far in the search of the first node, and when that search began.
    reported: when the latest report was sent.
    next_report: no report is sent before `Thinker.seconds` reaches this, see READING_SHARE.
    """

    purpose: str
    nodes: list[int]
    readouts: int | None
    seconds: float | None = None
    done: int = 0
    began: float = field(default_factory=time.monotonic)
    reported: float = 0.0
    next_report: float = 0.0

    @property
    def node(self) -> int:
        """The number of the node that is searched now."""
        return self.nodes[0]

    def left(self) -> int:
        """Return the readouts that the search of this position may still take."""
        if self.seconds is not None and time.monotonic() - self.began >= self.seconds:
            return 0
        return 10**9 if self.readouts is None else self.readouts - self.done

    def next_position(self) -> None:
        """Go on to the next node."""
        self.nodes.pop(0)
        self.done, self.began, self.reported, self.next_report = 0, time.monotonic(), 0.0, 0.0


class Desk:
    """The state of one page, which the functions of `alphago.ui.web.commands` change.

    Only the thread of its session may use it. The arguments are those of `Session`.
    """

    def __init__(
        self,
        engines: Engines,
        bases: Mapping[str, GameEnv],
        send: Callable[[dict[str, Any]], None],
        runs: Any = None,
    ) -> None:
        self.engines, self.bases, self.runs = engines, dict(bases), runs
        self.send = send
        self.thinker = Thinker()
        self.job: Job | None = None
        self.study = False  # whether forecasts and the numbers of moves are wanted
        self.analysing = False  # whether the engine thinks about every position that is looked at
        self.players = {1: HUMAN, -1: ENGINE}
        env = next(iter(self.bases.values()))
        self.strength = Strength(engines.usual(env))
        self.tree = GameTree(env, env.position())
        self.names = {1: "", -1: ""}  # of the players in a file or run
        self.known = 0  # nodes that the page has been told of

    # --- the page -------------------------------------------------------------------------------------

    def connect(self, send: Callable[[dict[str, Any]], None]) -> None:
        """Send messages with `send` from now on, beginning with everything that the page has to show."""
        self.send = send
        self.tell_game()
        self.tell_state()

    def disconnect(self) -> None:
        """Stop the engine, and send no more messages."""
        self.drop()
        self.send = ignore

    def drop(self) -> None:
        """Stop the engine, and free the memory of its search."""
        self.stop()
        self.analysing = False
        self.thinker.forget()

    def say(self, text: str, kind: str = "error") -> None:
        """Send a sentence for the page to show, then the state, which may have changed before the error."""
        self.send({"type": "notice", "kind": kind, "text": text})
        self.tell_state()

    def status(self, text: str) -> None:
        """Send a text for the page's status line, such as that a network is loading; "" for its usual text."""
        self.send({"type": "status", "text": text})

    def set_game(self, tree: GameTree, names: Mapping[int, str] | None = None) -> None:
        """Put another game on the board; the caller must then call `wake` or `tell_state`.

        names: the players' names by side, for a game from a file or a run.
        """
        self.stop()
        usual = self.strength.network == self.engines.usual(self.tree.env)
        self.tree, self.names = tree, {1: "", -1: "", **(names or {})}
        if usual or not self.engines.suits(self.strength.network, tree.env):
            self.strength = replace(self.strength, network=self.engines.usual(tree.env))
        if self.strength.readouts is not None:
            self.strength = replace(self.strength, readouts=min(self.strength.readouts, most_readouts(tree.env)))
        self.tell_game()

    def tell_game(self) -> None:
        """Send the game's facts; the next `tell_state` then sends all of its nodes."""
        self.known = 0
        view = game_view(self.tree.env)
        view["mostReadouts"] = most_readouts(self.tree.env)
        view["networks"] = [name for name in self.engines.choices if self.engines.suits(name, self.tree.env)]
        self.send({"type": "game", "game": view, "names": [self.names[1], self.names[-1]]})

    def tell_state(self) -> None:
        """Send what may have changed: the board, the new nodes, who plays, how strong, and what is going on."""
        tree = self.tree
        position, loser = tree.position, tree.loser()
        over = tree.is_over()
        nodes = [
            [n, node.parent, node.action, node.mover] for n, node in enumerate(tree.nodes[self.known :], self.known)
        ]
        self.send(
            {
                "type": "state",
                "node": tree.current,
                "line": tree.line(),
                "view": position_view(position),
                "over": over,
                "result": result_view(position, loser) if over else None,
                "added": nodes,
                "evaluations": self.evaluations(self.known),
                "players": [self.players[1], self.players[-1]],
                "strength": vars(self.strength),
                "study": self.study,
                "analysing": self.analysing,
                "busy": self.job.purpose if self.job else "",
                "analysis": tree.nodes[tree.current].analysis,
                "comment": tree.nodes[tree.current].comment,
                "link": link_of(tree),
            }
        )
        self.known = len(tree.nodes)

    def evaluations(self, first: int) -> list[list[Any]]:
        """Return [node, Black's chance to win, Black's margin, visits] for each evaluated node from `first` on."""
        nodes = enumerate(self.tree.nodes[first:], first)
        return [[n, node.win_rate, node.score, node.visits] for n, node in nodes if node.win_rate is not None]

    # --- the engine -----------------------------------------------------------------------------------

    def engine(self) -> Engine:
        """Return the engine of the chosen network for the game; load it first if it is not in memory."""
        name, env = self.strength.network, self.tree.env
        if (ready := self.engines.ready(name, env)) is not None:
            return ready
        self.status(f"Loading {name} for {env.name} …")
        try:
            return self.engines.engine(name, env)
        finally:
            self.status("")

    def stop(self) -> None:
        """End what the engine is doing."""
        self.job = None

    def wake(self) -> None:
        """Start the engine's next job: a move if it is the engine's turn, else see `look`; tell the page."""
        self.stop()
        tree = self.tree
        if not tree.is_over() and self.players[tree.position.to_play] == ENGINE:
            limit = self.strength
            readouts = min(limit.readouts or most_readouts(tree.env), most_readouts(tree.env))
            self.job = Job("move", [tree.current], readouts, limit.seconds)
        else:
            self.look()
        self.tell_state()

    def look(self) -> None:
        """Start to analyse the position on the board if `analysing`; if only `study` is True, evaluate it once."""
        if self.tree.is_over() or not (self.analysing or self.study):
            return
        if not self.analysing and self.tree.nodes[self.tree.current].analysis is not None:
            return
        readouts = most_readouts(self.tree.env) if self.analysing else 0
        self.job = Job("analyse", [self.tree.current], readouts)

    def go_on(self) -> None:
        """Work on the present job for about `alphago.ui.web.thinking.SLICE_SECONDS`."""
        job = self.job
        assert job is not None
        if self.tree.position_at(job.node).is_over:
            self._finish_position(job)
            return
        thinker = self.thinker
        engine = thinker.engine if job.done and thinker.engine else self.engine()
        thinker.move_to(engine, self.tree, job.node)
        if job.purpose == "move" and not self.strength.tree:
            self._report(job)
            self._play(thinker.policy_move())
            return
        left = job.left()
        if job.purpose == "analyse":
            left = min(left, most_readouts(self.tree.env) - thinker.visits)
        if left > 0:
            job.done += thinker.think(left)
            left = job.left()
        due = time.monotonic() - job.reported > REPORT_SECONDS and thinker.seconds >= job.next_report
        if left <= 0 or due:
            self._report(job)
        if left <= 0:
            self._finish_position(job)

    def _report(self, job: Job) -> None:
        """Send what the search has found so far."""
        node, began = self.tree.nodes[job.node], time.monotonic()
        remember(node, self.thinker.analysis())
        self.send(
            {
                "type": "thinking",
                "node": job.node,
                "purpose": job.purpose,
                "readouts": job.done,
                "limit": job.readouts,
                "rate": round(job.done / max(began - job.began, 1e-3)),
                "analysis": node.analysis,
                "evaluation": [job.node, node.win_rate, node.score, node.visits],
                "left": len(job.nodes) - 1,
            }
        )
        job.reported = time.monotonic()
        job.next_report = self.thinker.seconds + (job.reported - began) / READING_SHARE

    def _finish_position(self, job: Job) -> None:
        """Do what follows the search of a position: play or resign, go on to the review's next position, or stop."""
        if job.purpose == "move":
            if self.thinker.gives_up():
                self.resign(self.tree.position.to_play)
            else:
                self._play(self.thinker.best())
        elif job.purpose == "review" and len(job.nodes) > 1:
            job.next_position()
        else:
            self.stop()
            self.tell_state()

    def _play(self, action: int) -> None:
        """Play the engine's move."""
        self.tree.play(action)
        self.after_move(action)

    # --- the game -------------------------------------------------------------------------------------

    def after_move(self, action: int) -> None:
        """Go on after a move of either side, as `wake` does; before that, send a hint after the game's first pass."""
        env, position = self.tree.env, self.tree.position
        hint = env.board_view.pass_hint
        first_pass = action == env.pass_action and position.moves.count(action) == 1
        if hint and first_pass and not self.tree.is_over():
            self.send({"type": "notice", "kind": "hint", "text": hint})
        self.wake()

    def resign(self, loser: int) -> None:
        """End the game at the position on the board: `loser` (+1 Black, -1 White) resigns."""
        self.stop()
        self.tree.resigned[self.tree.current] = loser
        self.tell_state()

    def look_at(self, number: int) -> None:
        """Put a node on the board; the engine does not move there before it is asked to or a move is played."""
        self.stop()
        self.tree.go_to(number)
        self.look()
        self.tell_state()

    def name_of(self, side: int) -> str:
        """Return the name of a side's player for a file.

        The name is the one from an opened file or run; else the network's for the engine, the side's for a person.
        """
        if self.names[side]:
            return self.names[side]
        human = self.tree.env.board_view.side(side)
        return f"alphago {self.strength.network}" if self.players[side] == ENGINE else human


def ignore(message: dict[str, Any]) -> None:
    """Drop a message, since the page has gone."""

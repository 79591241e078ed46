"""The state of one page: a game with its variations, who plays, how strong the engine is, and what it is doing."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.go_count import GoCount, count_of
from alphago.env.position import Position
from alphago.mcts.levels import EVEN, LEVELS, describe_level
from alphago.mcts.player import USUAL_LEAVES
from alphago.ui.teacher import Teacher
from alphago.ui.thinker import MoveLimit, Thinker, position_in
from alphago.ui.web.engines import PLAYOUTS, Engines, SharedEngine
from alphago.ui.web.game_tree import GameTree
from alphago.ui.web.limits import Strength, most_readouts
from alphago.ui.web.new_game import link_of
from alphago.ui.web.views import count_view, game_view, position_view, result_view, stated_view
from alphago.ui.web.wire import (
    EvaluationView,
    Message,
    NodeView,
    NoticeMessage,
    Purpose,
    ResultView,
    StateMessage,
    ThinkingMessage,
    analysis_view,
    why_message,
)

HUMAN, ENGINE = "human", "engine"
PLAYERS = (HUMAN, ENGINE)
SLICE_SECONDS = 0.03  # seconds of thinking, after which commands are read
LINE = 12  # plies of an expected line
REPORT_SECONDS = 0.12  # between two messages of one search
READING_SHARE = 0.02  # part of a search's time that reading its tree for messages may take


@dataclass
class DeskJob:
    """What the engine is doing.

    purpose: see `Purpose` in `alphago.ui.web.wire`.
    nodes: the numbers of the nodes to search; the first is searched now.  Only a "review" has several.
    limit: the limit of the search of one position.
    done, began: readouts so far in the search of the first node, and when that search began.
    reported: when the latest report was sent.
    next_report: the value of `Thinker.seconds` before which no report is sent, see READING_SHARE.
    """

    purpose: Purpose
    nodes: list[int]
    limit: MoveLimit
    done: int = 0
    began: float = field(default_factory=time.monotonic)
    reported: float = 0.0
    next_report: float = 0.0

    @property
    def node(self) -> int:
        """The number of the node that is searched now."""
        return self.nodes[0]

    def left(self) -> int:
        """Return how many readouts the search of the present node may still do."""
        return self.limit.left(self.done, time.monotonic() - self.began)

    def next_position(self) -> None:
        """Go on to the next node."""
        self.nodes.pop(0)
        self.done, self.began, self.reported, self.next_report = 0, time.monotonic(), 0.0, 0.0


class Desk:
    """The state of one page, which the functions of `alphago.ui.web.page_commands` change.

    Only the thread of its session may use it. The arguments are those of `Session`.
    """

    def __init__(
        self,
        engines: Engines,
        bases: Mapping[str, GameEnv],
        send: Callable[[Message], None],
        runs: Any = None,
    ) -> None:
        self.engines, self.bases, self.runs = engines, dict(bases), runs
        self.send = send
        self.thinker: Thinker | None = None
        self.engine_used: SharedEngine | None = None  # the engine of the thinker's player
        self.job: DeskJob | None = None
        self.study = False  # whether the board shows forecasts and the numbers of moves
        self.analysing = False  # whether the engine searches every position that comes on the board
        self.players = {1: HUMAN, -1: ENGINE}
        env = next(iter(self.bases.values()))
        self.strength = Strength(engines.usual(env), level=engines.level)
        self.opponent = ""  # how strong the level "even" takes the person to be
        self.teach: float | None = None  # a person's move that loses more points is followed by a lesson
        self.taught_node: int | None = None  # the node after the move of the latest lesson
        self.tree = GameTree(env, env.position())
        self.names = {1: "", -1: ""}  # of the players in a file or run
        self.known = 0  # nodes that the page has been told of

    # --- the page -------------------------------------------------------------------------------------

    def connect(self, send: Callable[[Message], None]) -> None:
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
        self.thinker = self.engine_used = None

    def say(self, text: str) -> None:
        """Send an error, which names the game in words, and the state, which may have changed before the error."""
        env = self.tree.env
        self.send(NoticeMessage(type="notice", kind="error", text=text.replace(str(env), env.title_and_size)))
        self.tell_state()

    def status(self, text: str) -> None:
        """Send a text for the page's status line, such as that a network is loading; "" for its usual text."""
        self.send({"type": "status", "text": text})

    def set_game(self, tree: GameTree, names: Mapping[int, str] | None = None) -> None:
        """Put another game on the board; the caller must then call `wake` or `tell_state`.

        names: the players' names by side, for a game from a file or a run.
        """
        self.stop()
        had_usual = self.strength.network == self.engines.usual(self.tree.env)
        self.tree, self.names = tree, {1: "", -1: "", **(names or {})}
        if had_usual or not self.engines.suits(self.strength.network, tree.env):
            self.strength = replace(self.strength, network=self.engines.usual(tree.env))
        if self.strength.readouts is not None:  # a larger board allows fewer
            self.strength = replace(self.strength, readouts=min(self.strength.readouts, most_readouts(tree.env)))
        self.tell_game()

    def tell_game(self) -> None:
        """Send what the page has to know of the game; the next `tell_state` then sends all nodes."""
        self.known = 0
        env = self.tree.env
        view = game_view(env)
        view["mostReadouts"] = most_readouts(env)
        has_scores = self.strength.network != PLAYOUTS
        measured = self.engines.is_measured(self.strength.network, env)
        view["levels"] = [describe_level(level, env, has_scores, measured) for level in range(1, LEVELS + 1)]
        view["networks"] = [name for name in self.engines.choices if self.engines.suits(name, env)]
        self.send({"type": "game", "game": view, "names": [self.names[1], self.names[-1]]})

    def tell_state(self) -> None:
        """Send what may have changed: the board, the new nodes, who plays, how strong, and what is going on."""
        tree = self.tree
        count = tree.counts.get(tree.current)
        over, resigned = tree.is_over(), bool(tree.loser())
        new_nodes = range(self.known, len(tree.nodes))
        self.send(
            StateMessage(
                type="state",
                node=tree.current,
                line=tree.line(),
                view=position_view(tree.position),
                over=over,
                result=self.result(count) if over else None,
                count=None if count is None or resigned else count_view(count),
                added=[self.node_view(number) for number in new_nodes],
                evaluations=[known for known in map(self.evaluation, new_nodes) if known["mean"]],
                players=[self.players[1], self.players[-1]],
                strength=asdict(self.strength),
                opponent=self.opponent,
                teach=self.teach,
                lesson=self.taught_node == tree.current,
                study=self.study,
                analysing=self.analysing,
                busy=self.job.purpose if self.job else "",
                analysis=tree.nodes[tree.current].analysis,
                comment=tree.nodes[tree.current].comment,
                link=link_of(tree),
            )
        )
        self.known = len(tree.nodes)

    def result(self, count: GoCount | None) -> ResultView:
        """Return the result of the finished game on the board.

        A count or a resignation decides it.  Without them, it is the result that the file states if the game was opened
        from a file and stands at its end; else the result by the rules.
        """
        tree = self.tree
        is_end_of_file = tree.nodes[tree.current].in_file >= 0 and tree.current == [0, *tree.main_line()][-1]
        if tree.stated and is_end_of_file and count is None and not tree.loser():
            return stated_view(tree.stated)
        return result_view(tree.position, tree.loser(), count)

    def node_view(self, number: int) -> NodeView:
        """Return a node for the page's tree of variations."""
        node = self.tree.nodes[number]
        return {"node": number, "parent": node.parent, "move": node.action, "mover": node.mover}

    def evaluation(self, number: int) -> EvaluationView:
        """Return what is known of a node, for the page's graph and list of moves."""
        node = self.tree.nodes[number]
        mean, is_rough = self.tree.after_move(number)
        return {"node": number, "win": node.win_rate, "score": node.score, "mean": mean, "rough": is_rough}

    # --- the engine -----------------------------------------------------------------------------------

    def engine(self) -> SharedEngine:
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
        """Start the engine's next job, and send the state.

        The job is a move if it is the engine's turn, and the count if the game is over; else see `look`.
        """
        self.stop()
        tree = self.tree
        if tree.is_over():
            self.begin_count()
        elif self.players[tree.position.to_play] == ENGINE:
            self.job = self.move_job()
        else:
            self.look()
        self.tell_state()

    def look(self) -> None:
        """Start to analyse the position on the board: with a search if `analysing`, with the network alone if `study`.

        With neither nothing starts, and the network does not evaluate a position that has an analysis.
        """
        has_analysis = self.tree.nodes[self.tree.current].analysis is not None
        is_wanted = self.analysing or (self.study and not has_analysis)
        if self.tree.is_over() or not is_wanted:
            return
        readouts = most_readouts(self.tree.env) if self.analysing else 0
        self.job = DeskJob("analyse", [self.tree.current], MoveLimit(readouts))

    def begin_count(self) -> None:
        """Start to look for the dead stones of the game on the board, if it has ended by two passes and has no count.

        The network alone says which stones are dead (0 readouts).  A search would not find them: its passes end the
        game, with all stones alive.
        """
        tree = self.tree
        count = count_of(tree.position)
        if count is None or tree.loser() or tree.current in tree.counts:
            return
        tree.counts[tree.current] = count
        has_stones = count.position.board.any()
        if has_stones and self.strength.network != PLAYOUTS:
            self.job = DeskJob("count", [tree.current], MoveLimit(0))

    def move_job(self) -> DeskJob:
        """Return the job to choose a move at the position on the board."""
        most = most_readouts(self.tree.env)
        limit = MoveLimit(min(self.strength.readouts or most, most), self.strength.seconds)
        return DeskJob("move", [self.tree.current], limit)

    def engine_at(self, job: DeskJob) -> tuple[Thinker, SharedEngine]:
        """Return the thinker, at the position of a job, and its engine.

        They are new if the person has chosen another network, but not in the middle of a search.
        """
        is_searching = job.done > 0
        engine = self.engine_used if is_searching and self.engine_used else self.engine()
        if self.thinker is None or engine is not self.engine_used:
            self.thinker, self.engine_used = Thinker(engine.new_player(), wave=USUAL_LEAVES), engine
        self.thinker.follow(self.searched(job))
        return self.thinker, engine

    def searched(self, job: DeskJob) -> Position:
        """Return the position that a job searches: that of its node, or for a count that before the last two passes."""
        if job.purpose == "count":
            return self.tree.counts[job.node].before
        return self.tree.position_at(job.node)

    def go_on(self) -> None:
        """Work on the present job for a short time: search for SLICE_SECONDS, or play a move that needs no search."""
        job, level = self.job, self.strength.level
        assert job is not None
        if self.searched(job).is_over:  # the end of a game in a review
            self._go_to_next(job)
            return
        thinker, engine = self.engine_at(job)
        is_move = job.purpose == "move"
        if is_move and not self.strength.tree:
            self._report(job, thinker)
            self._play(thinker.player.policy_move())
        elif is_move and level is not None and level != LEVELS:  # LEVELS is full strength: the move of a search
            with engine.turns:
                action = thinker.player.level_move(level)
                self.opponent = str(thinker.player.opponent.estimate(thinker.player.position)) if level == EVEN else ""
            self._report(job, thinker)
            self._play_or_resign(thinker, action)
        else:
            self._search(job, thinker, engine)

    def _search(self, job: DeskJob, thinker: Thinker, engine: SharedEngine) -> None:
        """Search for SLICE_SECONDS; report if it is time to, and finish the position if its search is over."""
        left = job.left()
        if job.purpose == "analyse":  # the tree may be kept from an earlier search, and must not outgrow its limit
            left = min(left, most_readouts(self.tree.env) - thinker.player.root_visits)
        if left > 0:
            with engine.turns:
                job.done += thinker.work(left, SLICE_SECONDS)
            left = job.left()
        is_due = time.monotonic() - job.reported > REPORT_SECONDS and thinker.seconds >= job.next_report
        if (left <= 0 or is_due) and job.purpose != "count":  # a count does not search the position of its node
            self._report(job, thinker)
        if left <= 0:
            self._finish_position(job, thinker)

    def _report(self, job: DeskJob, thinker: Thinker) -> None:
        """Send what the search has found so far."""
        reading_began = time.monotonic()
        analysis = self.tree.nodes[job.node].remember(analysis_view(thinker.player.analysis(plies=LINE)))
        self.send(
            ThinkingMessage(
                type="thinking",
                node=job.node,
                purpose=job.purpose,
                readouts=job.done,
                limit=job.limit.readouts,
                rate=round(job.done / max(reading_began - job.began, 1e-3)),
                analysis=analysis,
                evaluations=[self.evaluation(node) for node in (job.node, *self.tree.nodes[job.node].children)],
                left=len(job.nodes) - 1,
            )
        )
        job.reported = time.monotonic()
        reading_seconds = job.reported - reading_began
        job.next_report = thinker.seconds + reading_seconds / READING_SHARE

    def _finish_position(self, job: DeskJob, thinker: Thinker) -> None:
        """Do what follows the search of a position: play or resign, or mark dead stones, or go to the next position."""
        if job.purpose == "move":
            self._play_or_resign(thinker, thinker.best())
            return
        if job.purpose == "count":
            ownership = thinker.player.analysis().as_black().raw_ownership  # [1, N, N] or None
            count = self.tree.counts[job.node]
            self.tree.counts[job.node] = count.proposed(None if ownership is None else ownership[0])
        self._go_to_next(job)

    def _go_to_next(self, job: DeskJob) -> None:
        """Go on to the next position of a review; stop if there is none."""
        if len(job.nodes) > 1:
            job.next_position()
        else:
            self.stop()
            self.tell_state()

    def _play_or_resign(self, thinker: Thinker, action: int) -> None:
        """Resign for the engine if it should, else play its move."""
        if thinker.player.should_resign():
            self.resign(self.tree.position.to_play)
        else:
            self._play(action)

    def _play(self, action: int) -> None:
        """Play the engine's move."""
        self.tree.play(action)
        self.after_move(action)

    # --- the game -------------------------------------------------------------------------------------

    def teach_about(self, action: int) -> bool:
        """If a person who is taught plays a bad move, play it, send why it is bad, and return True.

        The engine then waits until the person takes the move back ("undo") or lets the engine move ("move").
        Any other move is not played, and the return value is False.
        """
        self.taught_node = None
        tree, position = self.tree, self.tree.position
        against_engine = self.players[position.to_play] == HUMAN and ENGINE in self.players.values()
        if self.teach is None or not against_engine:
            return False
        engine = self.engine()
        with engine.turns:
            lesson = Teacher(engine.evaluator, self.teach, threads=1).lesson(position_in(engine.env, position), action)
        if lesson is None:
            return False
        node_before = tree.current
        tree.play(action)
        self.taught_node = tree.current
        self.send(why_message(node_before, lesson))
        self.tell_state()
        return True

    def after_move(self, action: int) -> None:
        """Go on after a move of either side as `wake` does; after the game's first pass, send a hint too."""
        env, position = self.tree.env, self.tree.position
        hint = env.board_view.pass_hint
        first_pass = action == env.pass_action and position.moves.count(action) == 1
        if hint and first_pass and not self.tree.is_over():
            self.send(NoticeMessage(type="notice", kind="hint", text=hint))
        self.wake()

    def resign(self, loser: int) -> None:
        """End the game at the position on the board: `loser` (+1 Black, -1 White) resigns."""
        self.stop()
        self.tree.resigned[self.tree.current] = loser
        self.tell_state()

    def look_at(self, number: int) -> None:
        """Put a node on the board; the engine does not move there, even if it is its turn."""
        self.stop()
        self.tree.go_to(number)
        self.look()
        self.tell_state()

    def name_of(self, side: int) -> str:
        """Return the name of a side's player for a file.

        It is the name in the file or run that the game is from, if there is one; else the network's name for the
        engine, and the side's name for a person.
        """
        if self.names[side]:
            return self.names[side]
        if self.players[side] == ENGINE:
            return f"alphago {self.strength.network}"
        return self.tree.env.board_view.side(side)


def ignore(message: Message) -> None:
    """Drop a message, since the page has gone."""

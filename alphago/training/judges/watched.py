"""The things that `watch` can name: an opponent to play, game records to predict, or an exam to take."""

import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from alphago.arena.engine import Engine
from alphago.arena.engine_player import check_engine
from alphago.arena.entrant import Entrant
from alphago.arena.match import play_match
from alphago.arena.match_games import MatchGame, MatchPlan, opening_length
from alphago.arena.match_result import MatchResult
from alphago.arena.players import resolve_player
from alphago.arena.playout_player import PlayoutSettings
from alphago.env.game import GameEnv
from alphago.env.games import require_go
from alphago.exams.grades import grade_of
from alphago.exams.grading import BLUNDER, answer_all, exam_game, mark
from alphago.exams.positions import find_exam
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.gumbel import Gumbel
from alphago.nn.threads import one_torch_thread
from alphago.records.collection import read_collection
from alphago.system.cores import available_cores
from alphago.training.judges.prediction import WatchedRecords
from alphago.training.judges.results import WatchResult, games_as_text, match_row, without_forfeits
from alphago.training.settings.judge_settings import RECORDS, WatchList, split_readouts

PAIRS = 10  # pairs of games in a match
SEARCH = Gumbel()
POSITIONS = 4096  # positions of records to predict: enough to distinguish an accuracy of 40 % from 42 %
EXAM = "exam"  # the name in `watch` of the package's exam; for another exam, a colon and its file follow
ROW = "exam_"  # prefix of the grade's numbers in a row of evaluations.jsonl


class Watched(Protocol):
    """An opponent, a set of game records, or an exam, that tests a run's networks again and again."""

    @property
    def name(self) -> str:
        """The name of this opponent, set of records or exam in `watch`."""

    def test(
        self, evaluator: Evaluator, device: str, *, seed: int, left: Callable[[], float], stop: threading.Event
    ) -> WatchResult | None:
        """Test a network; return None if `stop` was set before the end.

        evaluator: the evaluator of the network that is tested.  device: where an opponent's network is computed.
        seed: determines all random choices of the test.
        left: returns the seconds that the test may still take; a match has fewer games if that is too little.
        Raises EngineError if an engine does not start.
        """


def make_watched(watch: WatchList | None, env: GameEnv) -> list[Watched]:
    """Return an opponent, records or an exam for each name in the run's setting `watch`.

    Raises ValueError, OSError or EngineError for the first name that does not exist or cannot play the game `env`.
    """
    return [] if watch is None else [watched_by_name(name, env) for name in watch.opponents]


def watched_by_name(text: str, env: GameEnv) -> Watched:
    """Return the opponent, the records or the exam for one name in `watch`, such as "gnugo:10@64".

    Raises the errors of `make_watched`.
    """
    if text.startswith(RECORDS):
        return WatchedRecords(text, env, read_collection(text.removeprefix(RECORDS), env, POSITIONS))
    name, readouts = split_readouts(text)
    if name.partition(":")[0] == EXAM:
        return WatchedExam(name, readouts, env)
    watched = WatchedOpponent(name, readouts, env)
    player = watched.entrant("cpu").player
    if isinstance(player, Engine):
        check_engine(require_go(env.match_variant(), player.name), player)
    return watched


class WatchedExam:
    """An exam that tests a run's networks; see `Watched`.

    text: "exam" for the package's exam of the run's board, or "exam:FILE".
    readouts: simulations in each position; 0 for the policy alone.
    env: the run's game.
    Raises ValueError if there is no such exam, or if it is not of the run's game and board.
    """

    def __init__(self, text: str, readouts: int, env: GameEnv) -> None:
        self.text = text
        self.readouts = readouts
        self.env = exam_game(env, env.N)
        file = text.partition(":")[2]  # "" for the packaged exam of the board
        self.exam = find_exam(file or None, env.N)
        if self.exam.size != env.N:
            board = f"{self.exam.size}x{self.exam.size}"
            raise ValueError(f"{text} must be an exam on the run's board, {env.N}x{env.N}, got one on {board}")
        self.positions = self.exam.positions_of(self.env)

    @property
    def name(self) -> str:
        return f"{self.text}@{self.readouts}"

    def test(self, evaluator: Evaluator, device: str, **_: Any) -> WatchResult:
        """Let a network take the whole exam; see `Watched.test`."""
        with one_torch_thread():
            answers = answer_all(self.positions, evaluator, self.readouts, threads=available_cores())
        grade = grade_of(mark(self.exam, answers))
        numbers = {ROW + name: value for name, value in grade.row().items() if value is not None}
        summary = (
            f"the network loses {grade.points.value:.2f} ± {grade.points.margin:.2f} points a move in "
            f"{grade.positions} positions, {grade.blunders.value:.1%} of its moves more than {BLUNDER:g} points"
        )
        return WatchResult({"opponent": self.text, "readouts": self.readouts, **numbers}, summary)


class WatchedOpponent:
    """An opponent that tests a run's networks by matches; see `Watched`.

    opponent: a player's name, as for `evaluate`.
    readouts: simulations per move of the run's network; the opponent has as many if it is a network.
    env: the run's game; engines and playout players play `env.match_variant()`.
    Raises the errors of `resolve_player` if the opponent does not exist or does not play the game.
    """

    def __init__(self, opponent: str, readouts: int, env: GameEnv) -> None:
        self.opponent = opponent
        self.readouts = readouts
        self._entrants: dict[str, Entrant] = {}  # by device
        self.env = env
        # As in `evaluate`: engines do not know the game's limits, and playout players are rated without limits.
        if isinstance(self.entrant("cpu").player, (PlayoutSettings, Engine)):
            self.env = env.match_variant()

    @property
    def name(self) -> str:
        return f"{self.opponent}@{self.readouts}"

    def test(
        self, evaluator: Evaluator, device: str, *, seed: int, left: Callable[[], float], stop: threading.Event
    ) -> WatchResult | None:
        """Play as many of PAIRS pairs of games as are likely to be over in time, the first in any case.

        See `Watched.test`.
        """
        players = (Entrant(evaluator, self.readouts, SEARCH), self.entrant(device))
        plan = MatchPlan(games=2 * PAIRS, opening_plies=0, random_opening=opening_length(self.env), seed=seed, leaves=1)
        games: list[MatchGame] = []
        first = count = min(PAIRS, max(1, available_cores() // 2))  # so that all cores are busy
        at_first = left()
        while count > 0:
            numbers = range(len(games), len(games) + 2 * count)
            play_match(self.env, players, plan, numbers, games.append, stop=Follower(stop))
            if stop.is_set():
                return None
            count = more_pairs(len(games) // 2, at_first, left())
        return WatchResult(*self.result(games), part=len(games) / 2 / PAIRS, least=first / PAIRS)

    def result(self, games: Sequence[MatchGame]) -> tuple[dict[str, Any], str]:
        """Return entries of a row of evaluations.jsonl, with the moves of each game, and a clause for a report.

        Pairs of games in which an engine forfeited do not count.
        """
        result = MatchResult.of(self.env, games)
        valid = without_forfeits(result)
        texts = [str(valid)] if valid.games else []
        if count := len(result.forfeits):
            first_fault = result.forfeits[min(result.forfeits)]
            texts.append(f"{count} games that the opponent lost by a fault do not count: {first_fault}")
        row = {
            "opponent": self.opponent,
            "readouts": self.readouts,
            **(match_row(self.env, valid) if valid.games else {"played": 0}),
            "forfeits": len(result.forfeits),
            "moves": games_as_text(self.env, valid),
        }
        return row, "; ".join(texts)

    def entrant(self, device: str) -> Entrant:
        """Return the opponent as an `Entrant` of a match; if it is a network, `device` computes it."""
        if device not in self._entrants:
            self._entrants[device] = Entrant(resolve_player(self.opponent, self.env, device), self.readouts, SEARCH)
        return self._entrants[device]


def more_pairs(played: int, at_first: float, left: float) -> int:
    """Return how many more pairs of games, of PAIRS in all, are likely to be over in time.

    played: number of pairs so far.  at_first, left: seconds that were allowed before them, and that are left.
    """
    cost = max(at_first - left, 1e-9) / played
    return min(PAIRS - played, int(left / cost))


class Follower(threading.Event):
    """An event that counts as set if it or another event is set, so that a match that fails does not stop the run."""

    def __init__(self, followed: threading.Event) -> None:
        super().__init__()
        self.followed = followed

    def is_set(self) -> bool:
        return super().is_set() or self.followed.is_set()

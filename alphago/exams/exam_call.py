"""`exam`: grade networks by the positions of an exam."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from alphago.arena.entrant import EntrantText, parse_entrant
from alphago.env.game import GameEnv
from alphago.env.games import require_go
from alphago.env.go import GoEnv
from alphago.exams.exam_result import ExamResult
from alphago.exams.grading import Answers, answer_all, exam_game
from alphago.exams.positions import Exam, find_exam
from alphago.mcts.evaluator import Evaluator, as_evaluator, fitting_network
from alphago.mcts.search_specs import SearchSpec
from alphago.nn.model_files import saved_game
from alphago.nn.net import load_model
from alphago.system.cores import available_cores
from alphago.system.validation import MOST_READOUTS, check_int, checks_keywords

READOUTS = (0, 64)
DTYPE = "float32"


class Examinee(NamedTuple):
    """A network that takes the exam.

    Attributes:
        entry: the parts of its name, as `alphago evaluate` writes it: "9x9@64,gumbel"; its `model` is None for a
            network that was not given by name.
        network: a NeuralNet, an evaluator or a function on positions.
        readouts: the numbers of readouts with which it answers, once with each.
        search: as in `Entrant`.
    """

    entry: EntrantText
    network: Any
    readouts: tuple[int, ...]
    search: SearchSpec

    @property
    def env(self) -> GameEnv | None:
        """The network's game; None for an evaluator or a function, which may not know it."""
        env = getattr(self.network, "env", None)
        return env if isinstance(env, GameEnv) else None


@checks_keywords()
def exam(
    networks: object,
    readouts: int | Sequence[int] = READOUTS,
    *,
    file: str | Path | None = None,
    search: SearchSpec = None,
    dtype: str | None = DTYPE,
    device: str = "auto",
    threads: int | None = None,
    tell: Callable[[str, int, int], object] = lambda name, total, count: None,
) -> ExamResult:
    """Grade networks by an exam: positions of Go with the loss of every legal move, as a strong judge sees it.

    Args:
        networks: one network or several, each a NeuralNet, or its name, file or run folder ("9x9", "runs/a";
            "runs/a@64" or "runs/a@64,gumbel" for readouts and a search of its own, "9x9@level=7" for a level), an
            evaluator, or a function on positions.
        readouts: simulations per position, one number or several; 0 for the policy alone.
        file: the exam's file, or the name of a packaged exam, "9x9"; None for the packaged one of the networks' board.
        search: "puct" (also None) for the most visited move, "gumbel", or SearchSettings.
        dtype: "float32", in which grades hardly depend on the machine; "bfloat16" or "int8", or None for the machine's
            fastest, in which the networks play.  It has no meaning for evaluators and functions.
        device: where networks are computed, as in `MCTSPlayer`.
        threads: number of threads; None for all cores.
        tell: called with a player's name, the number of answers that the whole call needs, and the number of positions
            that the player has answered since the last call of `tell`.

    Returns:
        An `ExamResult` with a player for each network and number of readouts: its `str()` is a table of points and win
        rate lost a move, shares of best moves and blunders, errors of win rate and lead, each with a 95 % interval.

    Raises:
        ValueError: for networks of other games or boards, and for a file that is not an exam.
    """
    counts = (readouts,) if isinstance(readouts, int) else tuple(readouts)
    for count in counts:
        check_int("readouts", count, 0, MOST_READOUTS)
    given_exam = None if file is None else find_exam(file)
    listed = networks if isinstance(networks, (list, tuple)) else [networks]
    # Of networks that are not given by their names.
    names = ["network"] if len(listed) == 1 else [f"network {number}" for number in range(1, len(listed) + 1)]
    pairs = zip(listed, names, strict=True)
    examinees = [make_examinee(network, name, counts, search, given_exam) for network, name in pairs]
    if not examinees or not all(examinee.readouts for examinee in examinees):
        raise ValueError(f"there must be a network and readouts, got {networks!r} and {readouts!r}")
    questions = find_exam(file=None, size=common_board_size(examinees)) if given_exam is None else given_exam
    cores = available_cores() if threads is None else check_int("threads", threads, 1)
    answers: dict[str, Answers] = {}
    total = len(questions) * sum(len(examinee.readouts) for examinee in examinees)
    for examinee in examinees:
        env = exam_game(examinee.env or questions.env, questions.size)
        evaluator = make_evaluator(examinee.network, env, dtype, device)
        positions = questions.positions_of(env)
        for count in examinee.readouts:
            # `EntrantText.name` has readouts only if there is a `model`; any path will do, since it is not in the name.
            name = replace(examinee.entry, model=Path(), readouts=count).name
            if name in answers:
                raise ValueError(f"every network must have a name of its own, got {name} twice")
            options: dict[str, Any] = {"threads": cores, "tell": partial(tell, name, total)}
            answers[name] = answer_all(positions, evaluator, count, examinee.search, examinee.entry.level, **options)
    return ExamResult(questions, tuple(answers), tuple(answers.values()))


def make_examinee(
    network: object, name: str, readouts: tuple[int, ...], search: SearchSpec, given_exam: Exam | None
) -> Examinee:
    """Return a network as an Examinee.

    Args:
        network: as in `exam`.
        name: for a network that is not given by name.
        readouts, search: for a network whose name has none.
        given_exam: the exam that the caller named, None for none.  A network that was saved for another board is loaded
            for the board of this exam.
    """
    entry = EntrantText(name, model=None)
    if isinstance(network, (str, PathLike)):
        entry = parse_entrant(str(network))
        if entry.model is None:
            raise ValueError(f"an exam must be taken by networks, got {network}")
        env: GameEnv = saved_game(entry.model)
        if given_exam is not None and given_exam.size != env.N:
            env = require_go(env, "an exam").resized(given_exam.size)
        network, search = load_model(entry.model, env), entry.search or search
    if entry.level is not None:
        readouts = (0,)  # to answer once; the number does not matter, since a level has readouts of its own
    elif entry.readouts is not None:
        readouts = (entry.readouts,)
    # `entry` names the player in the table, with its rule of search; SearchSettings have no name.
    search_name = search if isinstance(search, str) else None
    return Examinee(replace(entry, search=search_name), network, readouts, search)


def common_board_size(examinees: Sequence[Examinee]) -> int:
    """Return the size of the networks' board; raise ValueError if they differ, or if no network knows its board."""
    boards = {examinee.entry.base: examinee.env.N for examinee in examinees if examinee.env is not None}
    if not boards:
        raise ValueError("file must name the exam for networks that do not know their board, got None")
    if len(set(boards.values())) > 1:
        listed = ", ".join(f"{board}x{board} of {name}" for name, board in boards.items())
        raise ValueError(f"the networks must have one board, got {listed}; choose an exam with file")
    return next(iter(boards.values()))


def make_evaluator(network: Any, env: GoEnv, dtype: str | None, device: str) -> Evaluator:
    """Return the evaluator of a network on the board of `env`, with forecasts of the score if the network has them."""
    on_board: Any = fitting_network(network, env)
    if hasattr(on_board, "forecast_evaluator"):
        return on_board.forecast_evaluator(device, dtype=dtype)
    return as_evaluator(on_board, env, device)

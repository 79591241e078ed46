"""Check the answers of this course against the package's own functions.

In a notebook `check(legal_points)` checks one function.  `python check.py` reads the saved notebooks of this folder and
checks all of them; it ends with status 1 until all is right.
"""

import contextlib
import inspect
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from alphago import GoEnv, NeuralNet, Puct, ReplayMemory, analyze, load_model, selfplay
from alphago.nn.loss import alphazero_loss

HERE = Path(__file__).parent
SECONDS = 300  # the time that a notebook may take
# A line of a cell that is not run: a command of the notebook, such as %pip or !ls, or a call of `check`.
COMMAND = re.compile(r"^([ \t]*)(%+\w|!(?!=)|check\().*", re.MULTILINE)
C_PUCT = 1.5  # in lesson 2
GAMES = 2  # games that a generation of lesson 4 plays in the check
LOST = {  # White has lost here, and so few moves that a short search tries all of them
    "black": "B7 C7 D7 E7 F7 A6 D6 E6 F6 B5 C5 E5 F5 B4 D4 F4 B3 C3 F3 C2 A1",
    "white": "G7 C6 G6 A5 G5 A4 G4 A3 D3 E3 G3 A2 B2 D2 E2 F2 C1 E1 F1 G1",
    "to_play": "white",
}


class Wrong(Exception):
    """An answer is wrong; the text says where, and how."""


def random_positions(env: GoEnv, games: int = 12, plies: int = 36) -> Iterator[Any]:
    """Yield the positions of random games, on whose crowded boards there are captures, ko and suicide.

    Args:
        plies: the length of a game.
    """
    random = np.random.default_rng(0)
    for _ in range(games):
        position = env.position()
        while not position.is_over and len(position.moves) < plies:
            yield position
            points = np.flatnonzero(position.legal_mask[:-1])  # no passes
            position = position.play(int(random.choice(points)) if len(points) else env.pass_action)


def check_legal_points(legal_points: Callable[..., Any]) -> None:
    """Raise Wrong unless lesson 1's function finds the legal points of positions of random games."""
    env = GoEnv(5)
    for position in random_positions(env):
        right = position.legal_mask[:-1].reshape(5, 5).copy()
        right.flat[list(position.ko_points)] = True  # the function cannot know of ko, since it gets the board alone
        board = position.board.copy()
        answer = np.asarray(legal_points(board, position.to_play))
        side = {1: "Black (X)", -1: "White (O)"}[position.to_play]
        where = f"in\n{position}\n{side} to play"
        if not np.array_equal(board, position.board):
            raise Wrong(f"the board was changed: place stones on a copy, {where}")
        if answer.shape != (5, 5):
            raise Wrong(f"expected an array [5, 5], got {list(answer.shape)}, {where}")
        for point in np.flatnonzero(answer.astype(bool) != right).tolist():
            name, is_legal = env.to_text(point), bool(right.flat[point])
            reason = explain_point(position, point, is_legal)
            raise Wrong(f"{name} is {'legal' if is_legal else 'illegal'}: {reason}, {where}")


def explain_point(position: Any, point: int, is_legal: bool) -> str:
    """Return why a point is legal or illegal on the board alone, without ko."""
    row, column = divmod(point, 5)
    around = [(row + r, column + c) for r, c in ((0, 1), (1, 0), (0, -1), (-1, 0))]
    neighbours = [position.board[r, c] for r, c in around if 0 <= r < 5 and 0 <= c < 5]
    if position.board.flat[point]:
        return "a stone is there"
    if not is_legal:
        return "its chain would have no liberty, and it captures nothing (suicide)"
    if 0 in neighbours:
        return "the empty point beside it is a liberty"
    enemy = -position.to_play
    is_ko = point in position.ko_points  # it captures, but may not be played now
    if is_ko or (position.play(point).board == enemy).sum() < (position.board == enemy).sum():
        return "it captures, which makes a liberty"
    return "it joins a chain that keeps another liberty"


def check_choose(choose: Callable[..., Any]) -> None:
    """Raise Wrong unless lesson 2's function chooses the action that the package's search follows next."""
    net = load_model("7x7")
    settings = Puct(c_puct=C_PUCT, parent_value_weight=0, first_play_reduction=0, leaves=1)
    start = net.env.position()
    for position in (start, start.after(["D4", "E5", "C5", "D5", "C4", "E4"]), net.env.position(**LOST)):
        for readouts in (1, 2, 3, 5, 8, 13, 21, 34, 55):
            now, then = (analyze(position, net, n, settings=settings, device="cpu") for n in (readouts, readouts + 1))
            priors, visits, values = now.prior[0].astype(float), now.visits[0].copy(), np.nan_to_num(now.q[0])
            expected = int((then.visits - now.visits)[0].argmax())  # the action with one visit more
            compare_choice(position, priors, visits, values, expected, int(choose(priors, visits, values, C_PUCT)))


def compare_choice(
    position: Any, priors: np.ndarray, visits: np.ndarray, values: np.ndarray, expected: int, answer: int
) -> None:
    """Raise Wrong unless `answer` is `expected`; if a usual mistake leads to this answer, the message names it.

    Args:
        priors, visits, values: P, N and Q of each action.
        expected, answer: the package's action and the student's.
    """
    if answer == expected:
        return

    def facts(action: int) -> str:
        numbers = f"P {priors[action]:.3f}, N {visits[action]}, Q {values[action]:+.3f}"
        return f"{position.env.to_text(action)} ({numbers})"

    total, legal = visits.sum() + 1, position.legal_mask
    explore = C_PUCT * priors * np.sqrt(total)
    mistakes = {  # by name, the scores that they give the actions
        "Q is left out": explore / (1 + visits),
        "the denominator is N(a), not 1 + N(a)": values + explore / np.maximum(visits, 1e-9),
        "the sum of visits has no square root": values + C_PUCT * priors * total / (1 + visits),
        "the sum of visits is left out": values + C_PUCT * priors / (1 + visits),
        "the priors are left out": values + C_PUCT * np.sqrt(total) / (1 + visits),
        "c_puct is left out": values + priors * np.sqrt(total) / (1 + visits),
        "Q has the wrong sign": -values + explore / (1 + visits),
        "the visits alone decide": visits.astype(float),
    }
    usual = [name for name, scores in mistakes.items() if np.where(legal, scores, -np.inf).argmax() == answer]
    hint = "" if legal[answer] else "\nIt is illegal: its prior is 0"
    hint = hint or (f"\nThat is the choice if {' or if '.join(usual)}" if usual else "")
    raise Wrong(
        f"after {visits.sum()} simulations PUCT follows {facts(expected)}, yours {facts(answer)}, in\n{position}{hint}"
    )


def check_targets(targets: Callable[..., Any]) -> None:
    """Raise Wrong unless lesson 3's function makes the package's targets, policies and values, of a few games."""
    env = GoEnv(5)
    for record in selfplay(env, NeuralNet(env, tower_height=0, channels=4), readouts=8, num_games=4, seed=1):
        positions, shares, outcomes = record.training_data(env)
        kept = record.training_plies
        visits, movers = record.policies[kept].astype(int), record.movers[kept]
        policies, values = (np.asarray(part, float) for part in targets(visits, movers, record.outcome))
        if policies.shape != visits.shape or values.shape != movers.shape:
            shapes = f"{list(visits.shape)} and {list(movers.shape)}"
            raise Wrong(f"expected arrays {shapes}, got {list(policies.shape)} and {list(values.shape)}")
        for position, share, outcome, policy, value in zip(positions, shares, outcomes, policies, values, strict=True):
            where = f"in\n{position}\n{'Black' if position.to_play == 1 else 'White'} to play, outcome {outcome:+g}"
            if not np.allclose(policy, share, atol=1e-6):
                hint = ": divide the visits by their sum" if abs(policy.sum() - 1) > 1e-6 else ""
                got = f"expected a policy with the greatest entry {share.max():.3f}, got {policy.max():.3f}"
                raise Wrong(f"{got}{hint}, {where}")
            expected = position.to_play * outcome
            if value != expected:
                view = "Black's" if value == outcome else "White's" if value == -outcome else "nobody's"
                got = f"expected the value {expected:+g}, the mover's, got {value:+g}, which is {view}"
                raise Wrong(f"{got}, {where}")


def check_losses(losses: Callable[..., Any]) -> None:
    """Raise Wrong unless lesson 3's function computes the package's losses of policy and value."""
    torch.manual_seed(0)
    logits, values = torch.randn(6, 26) * 3, torch.rand(6) * 2 - 1
    policies, outcomes = torch.softmax(torch.randn(6, 26) * 3, dim=1), torch.tensor([1.0, -1, 1, -1, -1, 1])
    mistakes = {  # by name, the factors by which they change a loss
        "it is not averaged over the batch": 6,
        "its sign is wrong": -1,
        "it is averaged over the actions, not summed": 1 / 26,
    }
    _, *rights = map(float, alphazero_loss(logits, values, policies, outcomes))  # without the total
    answers = map(float, losses(logits, values, policies, outcomes))
    for name, expected, answer in zip(("policy", "value"), rights, answers, strict=True):
        if not np.isclose(answer, expected, rtol=1e-3):
            hints = [hint for hint, factor in mistakes.items() if np.isclose(answer, factor * expected, rtol=1e-3)]
            got = f"expected the {name} loss {expected:.4f} of a batch of 6 positions, got {answer:.4f}"
            raise Wrong(": ".join([got, *hints]))


class WatchedMemory(ReplayMemory):
    """A memory that keeps the games as they were added, and the last sample."""

    last: Any = None

    def __init__(self, env: GoEnv) -> None:
        super().__init__(env)
        self.games: list[Any] = []

    def add(self, records: Any) -> None:
        self.games += records
        super().add(records)

    def sample(self, *arguments: Any, **options: Any) -> Any:
        if not self.games:
            raise Wrong("the memory is empty at the first sample: selfplay, then memory.add")
        self.last = super().sample(*arguments, **options)
        return self.last


class WatchedSteps(torch.optim.SGD):
    """Gradient steps that compare each gradient with that of the package's loss on the memory's last sample."""

    def __init__(self, net: NeuralNet, memory: WatchedMemory) -> None:
        super().__init__(net.parameters(), lr=1e-2)
        self.net, self.memory, self.steps = net, memory, 0
        self.before: list[torch.Tensor] = []  # the gradients of the last step

    def step(self, closure: Any = None) -> None:
        self.steps += 1
        sample, twin = self.memory.last, deepcopy(self.net)
        if sample is None:
            raise Wrong("no batch was sampled from the memory before the first step")
        if not self.net.training:
            raise Wrong("the network is not in training mode at a step: net.train()")
        twin.zero_grad()
        logits, value = twin(torch.from_numpy(sample.planes))
        alphazero_loss(logits, value, torch.from_numpy(sample.policy), torch.from_numpy(sample.value)).total.backward()
        pairs = zip(self.net.parameters(), twin.parameters(), strict=True)
        gradients = [(weight.grad, right.grad) for weight, right in pairs if right.grad is not None]
        if all(answer is None for answer, _ in gradients):
            raise Wrong(f"step {self.steps} has no gradient: loss.backward()")
        answers = [torch.zeros_like(right) if answer is None else answer.clone() for answer, right in gradients]
        rights = [right for _, right in gradients]
        if not similar(answers, rights):
            is_sum = self.before and similar(answers, [sum(pair) for pair in zip(self.before, rights, strict=True)])
            hint = "it has the last step's in it: optimizer.zero_grad()" if is_sum else "is the loss that of lesson 3?"
            raise Wrong(f"the gradient of step {self.steps} is not that of the last sample: {hint}")
        self.before = answers
        super().step(closure)


def similar(answers: list[torch.Tensor], rights: list[torch.Tensor]) -> bool:
    """Return whether gradients differ by at most a tenth, so little that a small term of the loss may be left out."""
    least = 1e-3 * max(float(right.norm()) for right in rights)
    pairs = zip(answers, rights, strict=True)
    return all(float((answer - right).norm()) <= 0.1 * float(right.norm()) + least for answer, right in pairs)


def check_generation(generation: Callable[..., Any]) -> None:
    """Raise Wrong unless lesson 4's function plays games, adds them to the memory, and learns from samples of it."""
    env = GoEnv(5, max_moves=20)
    torch.manual_seed(0)
    net, memory = NeuralNet(env, tower_height=1, channels=8), WatchedMemory(env)
    optimizer, random = WatchedSteps(net, memory), np.random.default_rng(0)
    for number in range(2):
        known, steps = len(memory), optimizer.steps
        generation(env, net, memory, optimizer, random, games=GAMES, readouts=4, steps=3)
        if len(memory) <= known:
            raise Wrong(f"generation {number + 1} added no games to the memory: selfplay, then memory.add")
        if optimizer.steps != steps + 3:
            raise Wrong(f"expected 3 gradient steps with steps=3, got {optimizer.steps - steps}")
    if len({record.seed for record in memory.games}) < 2 * GAMES:
        raise Wrong("both generations play with the same seed: leave the seed of selfplay out")


CHECKS = {  # by function: the notebook, and its check
    "legal_points": ("1_rules.ipynb", check_legal_points),
    "choose": ("2_search.ipynb", check_choose),
    "targets": ("3_learning.ipynb", check_targets),
    "losses": ("3_learning.ipynb", check_losses),
    "generation": ("4_loop.ipynb", check_generation),
}


def verdict(function: Any, name: str = "") -> str:
    """Return "right", or what is wrong with an answer.

    Args:
        function: the student's; or, if its cell failed, the exception.
        name: the function's name in this course; "" for its own name.
    """
    if isinstance(function, BaseException):
        return f"{type(function).__name__}: {function}"
    try:
        CHECKS[name or function.__name__][1](function)
    except Wrong as wrong:
        return str(wrong)
    except NotImplementedError:
        return "not written yet"
    except (Exception, SystemExit) as error:
        trace = inspect.trace()[-1]
        return f"{type(error).__name__}: {error} (line {trace.lineno} of {trace.function})"
    return "right"


def check(function: Callable[..., Any]) -> None:
    """Say whether a function of this course is right, and if not, where it differs from the package's."""
    print(f"{function.__name__}: {verdict(function)}")


def function_names(notebook: str) -> list[str]:
    """Return the names of the functions that a notebook asks for."""
    return [name for name, (file, _) in CHECKS.items() if file == notebook]


def read_answers(path: Path) -> dict[str, Any]:
    """Run a saved notebook's cells up to the last one with an answer, and return what they define, by name.

    Commands and checks are left out.  If a cell raises an exception before it defines its answer, the answer is the
    exception.
    """
    variables: dict[str, Any] = {}
    faults: dict[str, BaseException] = {}
    cells = json.loads(path.read_text("utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names_by_cell = [[name for name in function_names(path.name) if f"def {name}(" in text] for text in texts]
    last = max((number for number, answers in enumerate(names_by_cell) if answers), default=-1)
    for text, answers in zip(texts[: last + 1], names_by_cell, strict=False):
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(COMMAND.sub(r"\1pass", text), path.name, "exec"), variables)
        except (Exception, SystemExit) as error:
            faults |= dict.fromkeys(answers, error)
    return faults | variables


def grade(path: Path, out: Path) -> None:
    """Run a notebook in this process, and write name and verdict of each answer as a line of JSON to `out`."""
    try:
        answers = read_answers(path)
    except (OSError, ValueError, LookupError, TypeError) as error:
        answers = dict.fromkeys(function_names(path.name), error)  # this is no notebook
    with out.open("w") as file:
        for name in function_names(path.name):
            text = verdict(answers[name], name) if name in answers else "not written yet"
            print(json.dumps([name, text]), file=file, flush=True)


def verdicts(path: Path) -> dict[str, str]:
    """Return the verdicts on a notebook's answers, by name; a new process runs it, since a cell may end or hang it."""
    with TemporaryDirectory() as folder:
        out = Path(folder) / "verdicts"
        out.touch()
        command, nothing = [sys.executable, __file__, str(path), str(out)], subprocess.DEVNULL
        try:
            status = subprocess.run(
                command, stdin=nothing, stdout=nothing, stderr=nothing, timeout=SECONDS, check=False
            ).returncode
            failure = f"the notebook has ended Python (exit status {status})"
        except subprocess.TimeoutExpired:
            failure = f"no verdict within {SECONDS} s"
        texts = dict(map(json.loads, out.read_text().splitlines()))
    return {name: texts.get(name, failure) for name in function_names(path.name)}


def main() -> int:
    is_right = True
    for notebook in dict.fromkeys(notebook for notebook, _ in CHECKS.values()):
        for name, text in verdicts(HERE / notebook).items():
            print(f"{notebook}: {name}: {text}")
            is_right &= text == "right"
    return int(not is_right)


if __name__ == "__main__":
    if len(sys.argv) == 3:  # from `verdicts`
        grade(*map(Path, sys.argv[1:]))
    else:
        sys.exit(main())

"""The course in examples/course: right answers pass, usual mistakes are named, and the notebooks run at small scale."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from alphago.arena.submission import find_submission
from tests.test_notebooks import run

COURSE = Path(__file__).parents[1] / "examples" / "course"
HOLE = "    raise NotImplementedError"
ANSWERS = {
    "legal_points": """
    legal = np.zeros(board.shape, bool)
    for row, column in np.argwhere(board == 0):
        after = board.copy()
        after[row, column] = player
        beside = [point for point in neighbours(after, row, column) if after[point] == -player]
        captures = not all(has_liberty(after, *point) for point in beside)
        legal[row, column] = captures or has_liberty(after, row, column)
    return legal""",
    "choose": """
    scores = values + c_puct * priors * np.sqrt(1 + visits.sum()) / (1 + visits)
    return int(np.where(priors > 0, scores, -np.inf).argmax())""",
    "targets": """
    return visits / visits.sum(axis=1, keepdims=True), outcome * movers""",
    "losses": """
    cross_entropy = -(policies * torch.log_softmax(logits, dim=1)).sum(dim=1)
    return cross_entropy.mean(), (outcomes - values).square().mean()""",
    "generation": """
    memory.add(selfplay(env, net, readouts=readouts, num_games=games))
    net.train()
    for _ in range(steps):
        batch = memory.sample(64, random)
        planes, policy, value = map(torch.from_numpy, (batch.planes, batch.policy, batch.value))
        loss = alphazero_loss(*net(planes), policy, value).total
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()""",
}
MISTAKES = [  # the function, what is replaced, by what, and what is said
    ("legal_points", "board == 0", "board >= 0", "is illegal: a stone is there, in\n"),
    ("legal_points", "captures or has", "has", "is legal: it captures, which makes a liberty, in\n"),
    ("legal_points", "= captures or has_liberty(after, row, column)", "= True", "captures nothing (suicide), in\n"),
    (
        "legal_points",
        "has_liberty(after, row, column)",
        "any(after[point] == 0 for point in neighbours(after, row, column))",
        "is legal: it joins a chain that keeps another liberty, in\n",
    ),
    ("legal_points", "board.copy()", "board", "the board was changed: place stones on a copy, in\n"),
    ("legal_points", "board.shape", "board.size", "IndexError: "),
    ("choose", "/ (1 + visits)", "/ np.maximum(visits, 1e-9)", "if the denominator is N(a), not 1 + N(a)"),
    ("choose", "np.sqrt(1 + visits.sum())", "(1 + visits.sum())", "the sum of visits has no square root"),
    ("choose", "values + ", "", "That is the choice if Q is left out"),
    ("choose", "values + ", "-values + ", "Q has the wrong sign"),
    ("choose", "priors > 0", "priors > -1", "It is illegal: its prior is 0"),
    ("targets", "outcome * movers", "outcome * (movers**2)", "the mover's, got -1, which is Black's, in\n"),
    ("targets", " / visits.sum(axis=1, keepdims=True)", "", ": divide the visits by their sum, in\n"),
    ("losses", "cross_entropy.mean()", "cross_entropy.sum()", "it is not averaged over the batch"),
    ("losses", "-(policies", "(policies", ": its sign is wrong"),
    ("losses", "sum(dim=1)", "mean(dim=1)", "it is averaged over the actions, not summed"),
    ("generation", "memory.add(", "print(", "the memory is empty at the first sample: selfplay, then memory.add"),
    ("generation", "games)", "games, seed=3)", "leave the seed of selfplay out"),
    ("generation", "net.train()", "net.eval()", "not in training mode at a step: net.train()"),
    ("generation", "optimizer.zero_grad()", "", "step 2 is not that of the last sample: it has the last step's"),
    ("generation", "loss.backward()", "", "step 1 has no gradient: loss.backward()"),
    ("generation", ".total", ".value", "step 1 is not that of the last sample: is the loss that of lesson 3?"),
    ("generation", "range(steps)", "range(5)", "expected 3 gradient steps with steps=3, got 5"),
    ("generation", ANSWERS["generation"], "\n" + HOLE, "not written yet"),
    *((name, "", "", "right") for name in ANSWERS),
]
SMALL: dict[str, dict[str, Any]] = {
    "1_rules": {"GAMES": 2},
    "2_search": {"READOUTS": 8, "GAMES": 2},
    "3_learning": {"READOUTS": 2, "GAMES": 2, "STEPS": 1},
    "4_loop": {"GENERATIONS": 0, "MINUTES": 0.02, "MATCH": 2},
}


@pytest.fixture
def checker(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(COURSE)
    monkeypatch.delitem(__import__("sys").modules, "check", raising=False)
    return __import__("check")


def answered(folder: Path, change: Callable[[str, str], str] = lambda name, text: text) -> None:
    """Copies the notebooks, and fills their holes; change: returns an answer by its function's name and right text."""
    for path in COURSE.glob("*.ipynb"):
        notebook = json.loads(path.read_text("utf-8"))
        for cell in notebook["cells"]:
            text = "".join(cell["source"])
            for name, answer in ANSWERS.items():
                if text.count(HOLE) and f"def {name}(" in text:
                    cell["source"] = [text.replace(HOLE, change(name, answer).lstrip("\n"))]
        (folder / path.name).write_text(json.dumps(notebook), "utf-8")


@pytest.mark.docs
def test_right_answers_pass(checker: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    answered(tmp_path)
    monkeypatch.setattr(checker, "HERE", tmp_path)
    assert checker.main() == 0
    assert capsys.readouterr().out.count(": right\n") == len(ANSWERS)


@pytest.mark.docs
def test_bad_notebooks_are_told_of_and_the_others_checked(
    checker: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    broken = {
        "legal_points": "\n    pass\nimport os\nos._exit(0)",
        "choose": "\n    raise SystemExit",
        "targets": "\n    return (",
        "losses": ANSWERS["losses"] + "\nraise SystemExit\ncheck(losses)",
        "generation": "\n    pass\ndel generation",
    }
    answered(tmp_path, lambda name, text: broken[name])
    monkeypatch.setattr(checker, "HERE", tmp_path)
    assert checker.main() == 1
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "1_rules.ipynb: legal_points: the notebook has ended Python (exit status 0)"
    assert told[1].startswith("2_search.ipynb: choose: SystemExit: ")
    assert told[2].startswith("3_learning.ipynb: targets: SyntaxError: '(' was never closed (3_learning.ipynb, line ")
    assert told[3:] == ["3_learning.ipynb: losses: right", "4_loop.ipynb: generation: not written yet"]
    monkeypatch.setattr(checker, "SECONDS", 0.1)
    assert checker.verdicts(tmp_path / "2_search.ipynb") == {"choose": "no verdict within 0.1 s"}


@pytest.mark.parametrize(("name", "old", "new", "told"), MISTAKES)
def test_a_mistake_is_named(checker: ModuleType, tmp_path: Path, name: str, old: str, new: str, told: str) -> None:
    def mistaken(function: str, text: str) -> str:
        if function != name:
            return text
        assert old in text
        return text.replace(old, new)

    answered(tmp_path, mistaken)
    notebook = checker.CHECKS[name][0]
    assert told in checker.verdict(checker.read_answers(tmp_path / notebook)[name])


def test_the_notebooks_have_no_outputs() -> None:
    for path in COURSE.glob("*.ipynb"):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)


@pytest.mark.docs
@pytest.mark.parametrize("name", SMALL)
def test_a_notebook_runs(
    name: str, checker: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    answered(tmp_path)
    monkeypatch.chdir(tmp_path)
    run(tmp_path / f"{name}.ipynb", SMALL[name])
    assert ": right\n" in capsys.readouterr().out
    if name == "4_loop":
        assert Path("my_go.html").stat().st_size > 100_000
        assert find_submission("my_player.py") is not None

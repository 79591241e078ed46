"""The package from outside: its public names, and that nothing is imported before it is used."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import alphago

NAMES = """
ConnectFourEnv GameBatch GameEnv GameRecord GoEnv GomokuEnv Gumbel IllegalMove MCTSPlayer MatchResult NeuralNet OwareEnv
Position Puct ReplayMemory ReversiEnv SearchSettings check_game evaluate load_model play plot selfplay train train_on
"""
ROOT = Path(__file__).parents[1]
PACKAGE = Path(alphago.__file__).parent


def run(program: str) -> str:
    """What a fresh Python prints."""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_public_names() -> None:
    assert set(NAMES.split()) <= set(alphago.__all__)
    assert set(alphago.__all__) <= set(dir(alphago))
    assert len(dir(alphago)) == len(set(dir(alphago)))


def test_a_name_that_does_not_exist() -> None:
    with pytest.raises(AttributeError, match="module 'alphago' has no attribute 'Train'"):
        alphago.Train  # noqa: B018
    with pytest.raises(ImportError):
        from alphago import Chess  # noqa: F401


PROGRAMS = {
    "import": "import alphago; dir(alphago); assert not {'numba', 'numpy', 'safetensors', 'tqdm'} & {*sys.modules}",
    "help": "from alphago.cli import main; main(['--help']); assert not {'numba', 'numpy'} & {*sys.modules}",
    "a position": "from alphago import GoEnv, Position; assert GoEnv(9).position().play(40).legal_mask.sum() == 81",
    "a search": "from alphago import GoEnv, MCTSPlayer; MCTSPlayer(GoEnv(5), net, num_readouts=10).suggest_move()",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_only_what_is_used_is_imported(program: str) -> None:
    """A search needs no torch where its evaluator needs none."""
    net = "net = lambda position: ([1 / 26] * 26, 0.0)"
    assert run(f"import sys; {net}; {program}; print('torch' in sys.modules)").endswith("False")


def test_the_versions_that_the_tests_ran_with_are_allowed() -> None:
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines()[1:])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for text in (*project["dependencies"], *extras["dev"]):
        requirement = Requirement(text)
        assert requirement.specifier.contains(pinned[requirement.name.partition("[")[0]]), text
    everything = {Requirement(text).name for text in (*project["dependencies"], *extras["dev"])}
    of_users = {Requirement(text).name for extra in extras.values() for text in extra}
    assert of_users - everything == {"cupy-cuda12x", "cupy-cuda13x", "mcp", "ray"}  # for a GPU, or other programs


def test_texts_name_extras_that_exist() -> None:
    extras = {*tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]}
    texts = [path for kind in ("*.md", "*.py", "*.ipynb") for path in ROOT.glob(f"[!.b]*/**/{kind}")]
    for path in [*texts, ROOT / "Makefile", *ROOT.glob("*.md")]:
        named = re.findall(r"""(?:alphago|["' ]\.)\[([a-z0-9_,]+)\]""", path.read_text("utf-8"))
        assert {extra for names in named for extra in names.split(",")} <= extras, path


def test_no_two_files_share_a_name() -> None:
    """But a kernel and its twin: a stack trace says where it is."""
    paths = [path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]
    twins = {path for path in paths if path.parent.name == "kernels" and path.parent.parent / path.name in paths}
    names = Counter(path.name for path in paths if path not in twins)
    assert {name for name, count in names.items() if count > 1} == set()


def test_no_two_classes_share_a_name() -> None:
    nodes = (node for path in PACKAGE.rglob("*.py") for node in ast.walk(ast.parse(path.read_text())))
    names = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    assert {name for name, count in names.items() if count > 1} == set()


def test_few_lines_are_kept_from_the_formatter() -> None:
    """At most 20 in the package and its tests: other calls have fewer arguments, or a line for each."""
    kept = "# fmt: " + "skip"
    places = [path for folder in (PACKAGE, ROOT / "tests") for path in folder.rglob("*.py")]
    assert sum(path.read_text().count(kept) for path in places) <= 20

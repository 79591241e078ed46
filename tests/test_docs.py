"""README.md and docs/: Python blocks run or are quoted, command lines are understood, links lead somewhere."""

import argparse
import re
import shlex
from pathlib import Path
from textwrap import indent

import pytest

from alphago import GoEnv, NeuralNet
from alphago.cli import VERBS, make_parser
from alphago.cli.own_games import import_own_classes
from tests.blocks import Block, find_blocks, run_block

ROOT = Path(__file__).parents[1]
FOLDERS = [ROOT / "docs", ROOT / "docs" / "design", ROOT / "docs" / "games"]
PAGES = [ROOT / "README.md", *(page for folder in FOLDERS for page in sorted(folder.glob("*.md")))]
HISTORY = sorted((ROOT / "docs" / "experiments").glob("*.md"))  # their commands are those of their commits
SOURCES = [*(ROOT / "examples").glob("*.py"), *(ROOT / "alphago").rglob("*.py")]
FENCED = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Also behind a prompt or another command, and in quotation marks.
COMMAND = re.compile(r'(?!from |import )(?:.*[ "])?(?:[^ "]*/)?alphago (?P<arguments>[a-z][^"]*)"?')
VARIABLE = re.compile(r"\$\w+")  # of the shell, such as a job's number


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


BLOCKS = [block for page in PAGES for block in find_blocks(page.read_text("utf-8"), name_of(page))]
IMPORTS = re.compile(r"^(from|import) ", re.MULTILINE)  # in a block that is a program; any other is quoted


def without_blank_lines(text: str) -> str:
    """The formatter puts other ones between methods than between functions."""
    return re.sub(r"\n\n+", "\n", text)


@pytest.fixture(scope="module")
def sources() -> list[str]:
    return [without_blank_lines(path.read_text("utf-8")) for path in SOURCES]


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(
            block,
            marks=pytest.mark.docs if IMPORTS.search(block.code) and block.page != "README.md" else (),
            id=f"{block.page}-line{block.line}",
        )
        for block in BLOCKS
    ],
)
def test_block(block: Block, sources: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if IMPORTS.search(block.code):
        monkeypatch.chdir(tmp_path)
        run_block(block, monkeypatch)
    else:
        code = without_blank_lines(block.code)
        assert any(quoted in source for source in sources for quoted in (code, indent(code, "    ")))


def command_lines(text: str) -> list[str]:
    """The arguments of all `alphago` commands in blocks, without comments; a line that ends with \\ goes on."""
    blocks = [re.sub(r"\\\n *", "", block) for block in FENCED.findall(text)]
    lines = [line.split(" #")[0].strip() for block in blocks for line in block.splitlines()]
    return [match["arguments"] for match in map(COMMAND.fullmatch, lines) if match]


def commands_in_text(text: str) -> list[str]:
    """The arguments of all commands that are quoted within sentences: some are without what they need to run."""
    spans = re.findall(r"`([^`\n]+)`", FENCED.sub("", text))
    return [match["arguments"] for match in map(COMMAND.fullmatch, spans) if match]


def parsed(line: str) -> argparse.Namespace:
    """A command line's options; SystemExit for one that the command does not know."""
    verb, *words = shlex.split(VARIABLE.sub("1", line))
    if verb not in VERBS:
        raise SystemExit(f"no command {verb}")
    return make_parser(verb).parse_args(import_own_classes(words))


LINES = [(name_of(page), line) for page in PAGES for line in command_lines(page.read_text("utf-8"))]


@pytest.mark.usefixtures("games_as_before")
@pytest.mark.parametrize(("page", "line"), LINES, ids=lambda text: text)
def test_command_line(page: str, line: str) -> None:
    assert parsed(line).run


@pytest.mark.usefixtures("games_as_before")
def test_commands_in_sentences_have_their_verbs_and_options() -> None:
    found = [line for page in PAGES for line in commands_in_text(page.read_text("utf-8"))]
    assert len(found) > 5
    for line in found:
        verb, *words = import_own_classes(shlex.split(line))
        assert verb in VERBS, line
        options = {word.split("=")[0] for word in words if word.startswith("--")}
        assert options <= set(make_parser(verb)._option_string_actions), line


@pytest.mark.parametrize("page", [*PAGES, *HISTORY], ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_experiment_is_listed() -> None:
    index = (ROOT / "docs" / "experiments" / "index.md").read_text("utf-8")
    assert [page.name for page in HISTORY if page.name != "index.md" and f"]({page.name})" not in index] == []


@pytest.mark.parametrize(
    ("page", "most"), [("README.md", 120), ("docs/results.md", 150), ("docs/architecture.md", 150)]
)
def test_front_pages_stay_short(page: str, most: int) -> None:
    assert len((ROOT / page).read_text("utf-8").splitlines()) <= most


def test_numbers_of_weights() -> None:
    page = (ROOT / "docs" / "design" / "networks.md").read_text("utf-8")
    sizes = re.findall(r"\| (\d+) x (\d+), (\d+)x\3, \d+ \| ([\d ]+) \|", page)
    assert len(sizes) >= 6
    for height, channels, board, told in sizes:
        net = NeuralNet(GoEnv(int(board)), tower_height=int(height), channels=int(channels))
        assert f"{net.num_parameters:,}".replace(",", " ") == told


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = re.findall(r"\bmake ([a-z]+)`|^make ([a-z]+)", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert {"demo", "test"} <= {a or b for a, b in named} <= targets

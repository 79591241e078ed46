"""Every Python block of README.md runs, at small scale.

A block runs as it stands, in an empty folder, with the end of input at every prompt.  An HTML comment
right before it makes it small, with calls whose keywords replace or join those of the block:

    <!-- test: train(num_games=2, readouts=4), play(num_readouts=2) -->

`input("D4", "quit")` in the comment is what a person types.  A name that the block does not call is
an error, so that a comment cannot outlive what it was for.
"""

import ast
import builtins
import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"

BLOCK = re.compile(r"^(?:<!-- test: (?P<scale>.*?) -->\n+)?```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    line: int  # of the first line of code, from 1
    code: str
    scale: str  # the text of the comment, or ""


def find_blocks(text: str) -> list[Block]:
    """All Python blocks; ValueError for a test comment that belongs to none."""
    blocks = [
        Block(text.count("\n", 0, match.start("code")) + 1, match["code"], match["scale"] or "")
        for match in BLOCK.finditer(text)
    ]
    if text.count("<!-- test:") != sum(bool(block.scale) for block in blocks):
        raise ValueError("a test comment does not stand right before a Python block")
    if len(re.findall(r"^\s*```\s*python", text, re.MULTILINE)) != len(blocks):
        raise ValueError("a Python block is not written as one: ```python at the start of a line, closed by ```")
    return blocks


class Scale(ast.NodeTransformer):
    """Changes keywords of calls by name: `calls` maps a function's name to its new keywords."""

    def __init__(self, comment: str) -> None:
        self.calls: dict[str, dict[str, ast.expr]] = {}
        self.typed: list[str] = []
        self.used: set[str] = set()
        for call in ast.parse(f"[{comment}]", mode="eval").body.elts:
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
                raise ValueError(f"a test comment holds calls, not {ast.unparse(call)}")
            if call.func.id == "input":
                self.typed = [ast.literal_eval(line) for line in call.args]
            else:
                self.calls[call.func.id] = {keyword.arg: keyword.value for keyword in call.keywords}

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
        if name in self.calls:
            self.used.add(name)
            kept = [keyword for keyword in node.keywords if keyword.arg not in self.calls[name]]
            node.keywords = kept + [ast.keyword(key, value) for key, value in self.calls[name].items()]
        return node


def run_block(block: Block, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Runs the block at its scale; returns the names that it leaves."""
    scale = Scale(block.scale)
    tree = ast.fix_missing_locations(scale.visit(ast.increment_lineno(ast.parse(block.code), block.line - 1)))
    if unused := scale.calls.keys() - scale.used:
        raise ValueError(f"README.md, line {block.line}: the test comment names {unused}, the block does not call it")
    typed = iter(scale.typed)

    def answer(prompt: str = "") -> str:
        for line in typed:
            return line
        raise EOFError

    monkeypatch.setattr(builtins, "input", answer)
    names: dict[str, object] = {"__name__": "__main__"}
    exec(compile(tree, str(README), "exec"), names)
    return names


@pytest.mark.parametrize("block", find_blocks(README.read_text("utf-8")), ids=lambda block: f"line{block.line}")
def test_block(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_block(block, monkeypatch)


def test_links_lead_somewhere():
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", README.read_text("utf-8"))
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_make_targets_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z]+)`|^make ([a-z]+)", README.read_text("utf-8"), re.MULTILINE))
    assert {"demo", "test"} <= {a or b for a, b in named} <= targets


class TestMechanism:
    def run(self, text, monkeypatch):
        (block,) = find_blocks(text)
        return run_block(block, monkeypatch)

    def test_verbatim(self, monkeypatch):
        assert self.run("Text\n```python\nx = dict(a=1)\n```\n", monkeypatch)["x"] == {"a": 1}

    def test_keywords_are_replaced_and_joined(self, monkeypatch):
        text = "<!-- test: dict(a=2, c=3) -->\n\n```python\nx = dict(a=1, b=1)\n```\n"
        assert self.run(text, monkeypatch)["x"] == {"a": 2, "b": 1, "c": 3}

    def test_methods_and_nested_calls(self, monkeypatch):
        text = "<!-- test: split(maxsplit=1) -->\n```python\nx = len('a b c'.split())\n```\n"
        assert self.run(text, monkeypatch)["x"] == 2

    def test_typed_lines_then_the_end(self, monkeypatch):
        text = "<!-- test: input('D4', 'quit') -->\n```python\nx = [input(), input('> ')]\n```\n"
        assert self.run(text, monkeypatch)["x"] == ["D4", "quit"]
        with pytest.raises(EOFError):
            self.run("```python\ninput()\n```\n", monkeypatch)

    def test_a_comment_must_still_apply(self, monkeypatch):
        with pytest.raises(ValueError, match="does not call it"):
            self.run("<!-- test: train(num_games=2) -->\n```python\nx = 1\n```\n", monkeypatch)

    @pytest.mark.parametrize("comment", ["skip", "num_games=2", "1"])
    def test_a_comment_holds_calls_only(self, comment, monkeypatch):
        with pytest.raises((ValueError, SyntaxError)):
            self.run(f"<!-- test: {comment} -->\n```python\nx = 1\n```\n", monkeypatch)

    @pytest.mark.parametrize(
        "text",
        ["<!-- test: f(a=1) -->\nText\n```python\nf(a=2)\n```\n", "- item\n  ```python\n  x = 1\n  ```\n"],
    )
    def test_nothing_is_overlooked(self, text):
        with pytest.raises(ValueError, match="Python block"):
            find_blocks(text)

    def test_errors_point_into_the_readme(self, monkeypatch):
        (block,) = find_blocks("1\n2\n```python\nx = 1\n1 / 0\n```\n")
        with pytest.raises(ZeroDivisionError) as error:
            run_block(block, monkeypatch)
        assert error.traceback[-1].lineno + 1 == 5

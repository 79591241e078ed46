"""Python blocks of Markdown pages, which tests run at small scale.

A block runs as it stands, in an empty folder, with the end of input at every prompt.  An HTML comment
right before it makes it small, with calls whose keywords replace or join those of the block:

    <!-- test: train(num_games=2, readouts=4), play(num_readouts=2) -->

`input("D4", "quit")` in the comment is what a person types.  A name that the block does not call is
an error, so that a comment cannot outlive what it was for.
"""

import ast
import builtins
import re
from typing import NamedTuple

import pytest

BLOCK = re.compile(r"^(?:<!-- test: (?P<scale>.*?) -->\n+)?```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    page: str  # the file's name, or what else the text is called
    line: int  # of the first line of code, from 1
    code: str
    scale: str  # the text of the comment, or ""


def find_blocks(text: str, page: str = "text") -> list[Block]:
    """All Python blocks; ValueError for a test comment that belongs to none."""
    blocks = [
        Block(page, text.count("\n", 0, match.start("code")) + 1, match["code"], match["scale"] or "")
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
        raise ValueError(
            f"{block.page}, line {block.line}: the test comment names {unused}, the block does not call it"
        )
    typed = iter(scale.typed)

    def answer(prompt: str = "") -> str:
        for line in typed:
            return line
        raise EOFError

    monkeypatch.setattr(builtins, "input", answer)
    names: dict[str, object] = {"__name__": "__main__"}
    exec(compile(tree, block.page, "exec"), names)
    return names

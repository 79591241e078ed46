"""Public docstrings name arguments, results and exceptions in sections, as help(), editors and the site read them."""

import ast
import re
from pathlib import Path

import pytest

ROOMS = sorted(path.name for path in Path("alphago").iterdir() if path.is_dir() and (path / "__init__.py").exists())
OUTSIDE = re.compile(r"(?P<names>\w+(?:, \w+)*): \S|Raises [A-Z]\w+ (?:if|for|unless) ")


def arguments(node: ast.FunctionDef | ast.ClassDef) -> set[str]:
    """Return the names of a function's arguments, or those of a class's `__init__` and its annotated fields."""
    if isinstance(node, ast.FunctionDef):
        return {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
    fields = {
        line.target.id for line in node.body if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)
    }
    inits = [line for line in node.body if isinstance(line, ast.FunctionDef) and line.name == "__init__"]
    return fields.union(*map(arguments, inits))


@pytest.mark.parametrize("room", ROOMS)
def test_arguments_and_exceptions_stand_in_sections(room: str) -> None:
    outside = []
    for path in sorted(Path("alphago", room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                for line in (ast.get_docstring(node) or "").splitlines()[1:]:
                    found = OUTSIDE.match(line)
                    if found and (found["names"] is None or set(found["names"].split(", ")) <= arguments(node)):
                        outside.append(f"{path}: {node.name}: {line}")
    assert outside == []

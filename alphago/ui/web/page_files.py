"""The files of the page, and a module of its script joined with all modules that it imports."""

import re
from collections.abc import Sequence
from pathlib import Path

STATIC = Path(__file__).parent / "static"
WIDGET = Path(__file__).parent / "widget"  # what a notebook's board has beside them
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
FILES = {  # by address
    "/": "index.html",
    **{f"/{path.name}": path.name for path in sorted(STATIC.iterdir()) if path.suffix in KINDS.keys() - {".html"}},
    "/favicon.ico": "favicon.svg",
}
# How the page's modules are written: `import { a, b } from "./name.js";`, and `export` before each name, or default.
IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:const|let|function|class) (\w+))", re.MULTILINE)
DEFAULT = re.compile(r"^export default ", re.MULTILINE)


def module_text(name: str, folders: Sequence[Path] = (STATIC,)) -> str:
    """Return the text of a module of the page's script, from the first folder that has it."""
    return next(path for folder in folders if (path := folder / f"{name}.js").exists()).read_text("utf-8")


def bundle(name: str, folders: Sequence[Path] = (STATIC,)) -> str:
    """Return a module as a text that imports nothing: the modules that it imports are in the text.

    Each imported module becomes a function that is called once, since modules may use the same names.

    Args:
        folders: where the modules are.
    """
    imported = [wrap_module(module, folders) for module in list_imports(name, [], folders)]
    return "\n".join([*imported, inline_imports(module_text(name, folders))])


def list_imports(name: str, found: list[str], folders: Sequence[Path] = (STATIC,)) -> list[str]:
    """Return the modules that a module imports, directly or by way of others; each comes after those that it imports.

    Args:
        found: modules that were found before; the result begins with them, and has none of them twice.
    """
    for _, module in IMPORT.findall(module_text(name, folders)):
        if module not in found:
            found = [*list_imports(module, found, folders), module]
    return found


def wrap_module(name: str, folders: Sequence[Path]) -> str:
    """Return the text of a constant: an object with what a module exports, by name."""
    text = module_text(name, folders)
    names = ", ".join(EXPORT.findall(text))
    text = DEFAULT.sub("const $default = ", EXPORT.sub("", inline_imports(text)))
    return f"const ${name} = (() => {{\n{text}return {{ {names} }};\n}})();\n"


def inline_imports(text: str) -> str:
    """Return the text of a module whose imports are replaced by the constants of `wrap_module`."""
    return IMPORT.sub(r"const \1 = $\2;\n", text)


def without_comments(text: str) -> str:
    """Return a script without indents, empty lines and lines of comments, which begin with `//`, `/*` or `*`."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line not in ("", "*") and not line.startswith(("//", "/*", "*/", "* ")))

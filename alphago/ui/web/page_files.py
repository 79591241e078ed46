"""The files of the page: those that a server sends, and the board's modules in one text, as a notebook takes them."""

import re
from pathlib import Path

STATIC = Path(__file__).parent / "static"
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
FILES = {
    "/": "index.html",
    **{f"/{path.name}": path.name for path in sorted(STATIC.iterdir()) if path.suffix in KINDS.keys() - {".html"}},
    "/favicon.ico": "favicon.svg",
}  # by address
IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:const|let|function|class) (\w+))", re.MULTILINE)


def module_text(name: str) -> str:
    """Return the text of a module of the page's script."""
    return (STATIC / f"{name}.js").read_text("utf-8")


def bundle(name: str) -> str:
    """Return a module and all that it imports as one module that imports nothing.

    Each imported module becomes a function that is called once, so that its names are its own.
    """
    parts = [wrapped(other) for other in imported_by(name, [])]
    return "\n".join([*parts, inlined(module_text(name))])


def imported_by(name: str, found: list[str]) -> list[str]:
    """Return the modules that a module imports, also by others, each after those that it imports itself.

    found: modules that come before them; the result begins with them.
    """
    for _, other in IMPORT.findall(module_text(name)):
        if other not in found:
            found = [*imported_by(other, found), other]
    return found


def wrapped(name: str) -> str:
    """Return a module as a constant that holds what the module exports."""
    text = module_text(name)
    names = ", ".join(EXPORT.findall(text))
    return f"const ${name} = (() => {{\n{EXPORT.sub('', inlined(text))}return {{ {names} }};\n}})();\n"


def inlined(text: str) -> str:
    """Return the text of a module that takes what it imports from the constants of `wrapped`."""
    return IMPORT.sub(r"const \1 = $\2;\n", text)

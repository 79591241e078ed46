"""The files of the page: those that a server sends, and the board's modules in one text, as a notebook takes them."""

import re
from collections.abc import Sequence
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
DEFAULT = re.compile(r"^export default ", re.MULTILINE)


def module_text(name: str, folders: Sequence[Path] = (STATIC,)) -> str:
    """Return the text of a module of the page's script, from the first folder that has it."""
    return next(path for folder in folders if (path := folder / f"{name}.js").exists()).read_text("utf-8")


def bundle(name: str, folders: Sequence[Path] = (STATIC,)) -> str:
    """Return a module and all that it imports as one module that imports nothing.

    Each imported module becomes a function that is called once, so that its names are its own.

    folders: where the modules are.
    """
    imported = [wrapped(module, folders) for module in imported_by(name, [], folders)]
    return "\n".join([*imported, inlined(module_text(name, folders))])


def imported_by(name: str, found: list[str], folders: Sequence[Path] = (STATIC,)) -> list[str]:
    """Return the modules that a module imports, itself or by others, each after those that it needs.

    found: modules that are found already; the result begins with them, and leaves out nothing but repetitions.
    """
    for _, module in IMPORT.findall(module_text(name, folders)):
        if module not in found:
            found = [*imported_by(module, found, folders), module]
    return found


def wrapped(name: str, folders: Sequence[Path]) -> str:
    """Return a module as a constant that holds what the module exports by name."""
    text = module_text(name, folders)
    names = ", ".join(EXPORT.findall(text))
    text = DEFAULT.sub("const $default = ", EXPORT.sub("", inlined(text)))
    return f"const ${name} = (() => {{\n{text}return {{ {names} }};\n}})();\n"


def inlined(text: str) -> str:
    """Return the text of a module that takes what it imports from the constants of `wrapped`."""
    return IMPORT.sub(r"const \1 = $\2;\n", text)

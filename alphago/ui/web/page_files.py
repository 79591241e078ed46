"""The files of the page, and a module of its script joined with all modules that it imports."""

import re
from collections.abc import Sequence
from pathlib import Path

STATIC = Path(__file__).parent / "static"
WIDGET = Path(__file__).parent / "widget"  # further files of a notebook's board
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
FILES = {  # by address; a page of HTML has the address "/" only
    "/": "index.html",
    **{f"/{path.name}": path.name for path in sorted(STATIC.iterdir()) if path.suffix in KINDS.keys() - {".html"}},
    "/favicon.ico": "favicon.svg",
}
# The page's modules are written so that these expressions find all imports and exports.
IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:const|let|function|class) (\w+))", re.MULTILINE)


def module_text(name: str, folders: Sequence[Path] = (STATIC,)) -> str:
    """Return the text of a module of the page's script, from the first folder that has it."""
    paths = (folder / f"{name}.js" for folder in folders)
    return next(path for path in paths if path.exists()).read_text("utf-8")


def bundle(name: str, folders: Sequence[Path] = (STATIC,)) -> str:
    """Return a module as a text that imports nothing: the modules that it imports are in the text.

    Each imported module becomes a function that is called once, since modules may use the same names.

    Args:
        folders: where the modules are; a module is taken from the first folder that has it.
    """
    imported = [wrap_module(module, folders) for module in list_imports(name, [], folders)]
    return "\n".join([*imported, inline_imports(module_text(name, folders))])


def list_imports(name: str, modules: list[str], folders: Sequence[Path] = (STATIC,)) -> list[str]:
    """Return the modules that a module imports, and those that they import; each comes after the modules it imports.

    Args:
        modules: modules that are in the result already; the result begins with them, and has each module once.
    """
    for _, module in IMPORT.findall(module_text(name, folders)):
        if module not in modules:
            modules = [*list_imports(module, modules, folders), module]
    return modules


def wrap_module(name: str, folders: Sequence[Path]) -> str:
    """Return the text of a constant: an object with what a module exports, by name.

    A module "a" with "export const b = 5;" becomes "const $a = (() => { const b = 5; return { b }; })();".  It has no
    default export.
    """
    text = module_text(name, folders)
    names = ", ".join(EXPORT.findall(text))
    body = EXPORT.sub("", inline_imports(text))
    return f"const ${name} = (() => {{\n{body}return {{ {names} }};\n}})();\n"


def inline_imports(text: str) -> str:
    """Return the text of a module whose imports are replaced by the constants of `wrap_module`."""
    return IMPORT.sub(r"const \1 = $\2;\n", text)


def without_comments(text: str) -> str:
    """Return a script without indents, empty lines and lines of comments, which begin with `//`, `/*` or `*`."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line not in ("", "*") and not line.startswith(("//", "/*", "*/", "* ")))

"""The API page: every public name with its signature and docstring, as they stand in the code."""

import ast
import dataclasses
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Protocol

from mkdocs.structure.files import File, Files

import alphago

# What the public names speak of, and who uses the package needs to know, by home.
BESIDE = {
    "alphago.env.game": ("PlainState",),
    "alphago.env.go_position": ("GoPosition",),
    "alphago.env.go_rules": ("Rules",),
    "alphago.arena.engine": ("Engine",),
    "alphago.arena.elo": ("elo_ratings",),
    "alphago.arena.sprt": ("Sprt",),
    "alphago.training.group": ("SelfPlaySettings",),
    "alphago.training.settings": ("TrainingSettings",),
    "alphago.training.watch.report": ("Report",),
}
OPTION = re.compile(r"(\w+(?:, \w+)*): ")
INTRODUCTION = """\
# API

Lowest floor of [the house](architecture.md) first. Shapes stand in brackets, as in `[n, action_space]`; the
[words](architecture.md#words) are explained once. A method that does what its base class says is told there alone.
What a heading names is imported from `alphago` unless it says from where.
"""


def on_files(files: Files, config: Any) -> Files:
    files.append(File.generated(config, "api.md", content=api_page()))
    return files


def api_page() -> str:
    names = sorted(alphago.__all__, key=list(alphago._HOMES).index)
    parts = [INTRODUCTION, *(entry(name, getattr(alphago, name)) for name in names)]
    for home, others in BESIDE.items():
        module = importlib.import_module(home)
        parts += [entry(name, getattr(module, name), f"In `{home}`.") for name in others]
    return "\n\n".join(parts) + "\n"


def entry(name: str, thing: Any, home: str = "") -> str:
    """One name: a heading, its signature, its text; a class with its attributes and methods."""
    declared = attributes(thing) if inspect.isclass(thing) else ""
    # The fields of a dataclass are its signature; they are shown once, as fields where comments explain them.
    fields, explained = dataclasses.is_dataclass(thing), "  # " in declared
    call = "" if fields and explained else signature(name, thing)
    parts = [f"## {name} {{: #{name} }}", home, call, text(thing, thing)]
    if inspect.isclass(thing):
        parts += [first_text(thing), "" if fields and not explained else declared, *methods(thing)]
    return "\n\n".join(filter(None, parts))


def signature(name: str, thing: Any) -> str:
    """The call as Python has it, without the types of the package spelt out in full; exceptions have none."""
    if inspect.isclass(thing) and (issubclass(thing, (Exception, Protocol)) or inspect.isabstract(thing)):
        return code(f"class {name}({', '.join(base.__name__ for base in thing.__bases__)})")
    parameters = inspect.signature(thing)
    if inspect.isclass(thing):
        parameters = parameters.replace(return_annotation=inspect.Signature.empty)
    elif "self" in parameters.parameters:
        parameters = parameters.replace(parameters=list(parameters.parameters.values())[1:])
    line = f"{name}{parameters}".replace("'", "").replace("NoneType", "None")
    line = re.sub(r"\b(?:alphago|collections|pathlib|numpy|torch|typing|os)(?:\.\w+)*\.(?=\w)", "", line)
    return code(line if len(line) <= 100 else broken(line))


def broken(line: str) -> str:
    """A long signature with one parameter a line."""
    depth, out = 0, ""
    for sign in line:
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "(" and depth == 1:
            out += "(\n    "
        elif sign == ")" and depth == 0:
            out += ",\n)"
        else:
            out += ",\n   " if sign == "," and depth == 1 else sign
    return out


def text(thing: Any, owner: Any) -> str:
    """A docstring as Markdown: what a parameter's name begins becomes an entry of a list."""
    names = parameter_names(owner)
    lines: list[str] = []
    listed = False
    for line in (inspect.getdoc(thing) or "").splitlines():
        option = OPTION.match(line)
        if option and set(option[1].split(", ")) <= names:
            words = ", ".join(f"`{name}`" for name in option[1].split(", "))
            lines += [] if listed else [""]
            lines.append(f"- {words}: {escaped(line[option.end() :])}")
            listed = True
        elif listed and not line.startswith(" "):
            lines += ["", escaped(line)]
            listed = not line
        else:
            lines.append(escaped(line))
    return "\n".join(lines)


def escaped(line: str) -> str:
    """Outside code, brackets, stars and underscores mean themselves."""
    parts = line.split("`")
    return "`".join(re.sub(r"([\[\]*_<])", r"\\\1", part) if i % 2 == 0 else part for i, part in enumerate(parts))


def parameter_names(owner: Any) -> set[str]:
    """Names that a docstring may explain: parameters, and a class's attributes."""
    try:
        names = set(inspect.signature(owner).parameters)
    except ValueError:
        names = set()
    return names | set(getattr(owner, "__annotations__", ())) | set(vars(owner)) if inspect.isclass(owner) else names


def first_text(owner: type) -> str:
    """What the constructor says beside the class."""
    own = vars(owner).get("__init__")
    return text(own, own) if own is not None and own.__doc__ and "Initialize self" not in own.__doc__ else ""


def attributes(owner: type) -> str:
    """The attributes that the class's body declares, with their comments, as they stand there."""
    source = textwrap.dedent(inspect.getsource(owner))
    lines = source.splitlines()
    body = ast.parse(source).body[0].body  # type: ignore[attr-defined]
    kept: list[str] = []
    for node in body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            kept += lines[node.lineno - 1 : node.end_lineno]
    return code(textwrap.dedent("\n".join(kept))) if kept else ""


def methods(owner: type) -> Iterable[str]:
    """Public methods and properties that the class itself explains, in the order of its source."""
    for name, member in vars(owner).items():
        if (name.startswith("_") and name not in ("__call__", "__len__")) or not member.__doc__:
            continue
        if isinstance(member, (property, cached_property)):
            yield heading(owner, name)
            yield text(member, owner)
        elif inspect.isfunction(member) or isinstance(member, classmethod):
            function = getattr(owner, name)
            yield heading(owner, name)
            yield signature(name, function)
            yield text(function, function)


def heading(owner: type, name: str) -> str:
    """A method's, by which it can be linked to."""
    return f"### {escaped(f'{owner.__name__}.{name}')} {{: #{owner.__name__}.{name.strip('_')} }}"


def code(words: str) -> str:
    return f"```python\n{words}\n```"

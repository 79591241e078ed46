"""A griffe extension: what the docstrings and comments of this package say, in the form that mkdocstrings reads.

`name: text` paragraphs under a summary, from which the command line takes the help of its flags, become an `Args:`
section. A comment behind a field becomes its description, and so does the help of a `setting`.
"""

import ast
import inspect
import re
from typing import Any

import griffe

PARAGRAPH = re.compile(r"(\w+(?:, \w+)*): ")
SECTION = re.compile(r"(Args|Attributes|Returns|Raises|Yields|Examples?):$")
COMMENT = re.compile(r"^\s+\w+(?:: [^#]+)?(?: = [^#]+)?  # (.+)$")


class Docstrings(griffe.Extension):
    def on_function(self, *, func: griffe.Function, **kwargs: Any) -> None:
        rewrite(func, {parameter.name for parameter in func.parameters})

    def on_class_members(self, *, cls: griffe.Class, **kwargs: Any) -> None:
        rewrite(cls, set(cls.members) | {parameter.name for parameter in cls.parameters})

    def on_attribute(self, *, attr: griffe.Attribute, **kwargs: Any) -> None:
        if isinstance(attr.value, griffe.ExprCall) and str(attr.value.function) == "setting":
            attr.docstring = griffe.Docstring(ast.literal_eval(str(attr.value.arguments[0])), parent=attr)
        line = attr.source.splitlines()[0] if attr.docstring is None and attr.parent.is_class and attr.lineno else ""
        if comment := COMMENT.match(f"    {line.strip()}"):
            attr.docstring = griffe.Docstring(comment[1], parent=attr)


def rewrite(thing: griffe.Object, names: set[str]) -> None:
    """Put the paragraphs that begin with a parameter's name under `Args:`."""
    if thing.docstring is None or any(SECTION.match(line) for line in thing.docstring.lines):
        return
    before, listed, after = [], [], []
    for line in inspect.cleandoc(thing.docstring.value).splitlines():
        option = PARAGRAPH.match(line)
        if option and set(option[1].split(", ")) <= names:
            listed += [f"    {name}: {line[option.end() :]}" for name in option[1].split(", ")]
        elif listed and not after and line.startswith(" "):
            listed.append(f"    {line}")
        else:
            (after if listed else before).append(line.strip() if listed else line)
    if listed:
        thing.docstring.value = "\n".join([*before, "", "Args:", *listed, "", *after])

"""SVG pictures as tests read them: their shapes by kind, and their texts."""

import xml.etree.ElementTree as ElementTree
from typing import Any

SPACE = "{http://www.w3.org/2000/svg}"


def root_of(svg: str) -> ElementTree.Element:
    """The picture as a tree; it fails for what is not well formed."""
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SPACE}svg"
    return root


def shapes(svg: str, kind: str, **attributes: Any) -> list[ElementTree.Element]:
    """The elements of a kind ("circle") with these attributes; `_` in a name stands for `-`."""
    wanted = {name.replace("_", "-"): str(value) for name, value in attributes.items()}
    found = root_of(svg).iter(f"{SPACE}{kind}")
    return [one for one in found if all(one.get(name) == value for name, value in wanted.items())]


def texts(svg: str) -> list[str]:
    """The texts of a picture in order, without the title."""
    return ["".join(one.itertext()) for one in root_of(svg).iter(f"{SPACE}text")]


def title(svg: str) -> str:
    return root_of(svg).find(f"{SPACE}title").text  # type: ignore[union-attr,return-value]

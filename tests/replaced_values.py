"""Values of a file replaced one by one: what a damaged or foreign file may have in any place."""

import copy
from collections.abc import Iterator
from typing import Any

OTHERS: tuple[Any, ...] = (None, [], {}, "x", -1, 0.5, True, 10**400, float("nan"))


def replaced(data: Any) -> Iterator[tuple[str, Any]]:
    """Yield copies of JSON data in which one value, at any depth, is another one, and what was replaced."""
    for path in places(data):
        for value in OTHERS:
            changed = copy.deepcopy(data)
            parent = changed
            for key in path[:-1]:
                parent = parent[key]
            if parent[path[-1]] != value:
                parent[path[-1]] = value
                yield f"{'.'.join(map(str, path))} = {str(value)[:20]}", changed


def places(data: Any) -> Iterator[list[Any]]:
    """Yield the keys and indices that lead to each value in JSON data."""
    if isinstance(data, (dict, list)):
        for key in data if isinstance(data, dict) else range(len(data)):
            yield [key]
            yield from ([key, *rest] for rest in places(data[key]))

"""Every setting of the package: what is out of its range is refused by name, what is at its ends is not."""

import importlib
import inspect
import math
import re
from collections.abc import Iterator
from dataclasses import Field, fields
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

from alphago.system.validation import check_range
from tests.test_package import PACKAGE, ROOT


def declared() -> Iterator[Any]:
    """The settings of the package: class, field, the types of its values."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if "\n@settings\n" in path.read_text():
            module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
            for kind in vars(module).values():
                its_own = getattr(kind, "__module__", "") == module.__name__ and not inspect.isabstract(kind)
                if its_own and "__dataclass_fields__" in vars(kind):
                    for one in fields(kind):
                        hint = get_type_hints(kind)[one.name]
                        yield pytest.param(kind, one, {hint, *get_args(hint)}, id=f"{kind.__name__}.{one.name}")


def has_range(one: Field[Any]) -> bool:
    return one.metadata.get("positive", False) or one.metadata.get("least") is not None


DECLARED = list(declared())
RANGED = [case for case in DECLARED if has_range(case.values[1])]
BOOLS = [case for case in DECLARED if case.values[2] == {bool}]


def refuses(kind: Any, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"(\b|_){name} must .*got {re.escape(repr(value))}$"):
        kind(**{name: value})


@pytest.mark.parametrize(("kind", "one", "types"), RANGED)
def test_a_number_out_of_its_range(kind: Any, one: Field[Any], types: set[Any]) -> None:
    least, most = one.metadata["least"], one.metadata["most"]
    wrong = [True, "7", math.nan, math.inf, np.ones(2)]
    wrong += [0, -0.5] if one.metadata["positive"] else [least - 1]
    wrong += [most + 1] if most < math.inf else [1e30 if float in types or one.metadata["positive"] else 10**30]
    wrong += [] if float in types else [least + 0.5]
    wrong += [] if type(None) in types or one.metadata["automatic"] else [None]
    for value in wrong:
        refuses(kind, one.name, value)


@pytest.mark.parametrize(("kind", "one", "types"), RANGED)
def test_the_ends_of_a_range(kind: Any, one: Field[Any], types: set[Any]) -> None:
    number = float if float in types else int
    ends = [one.metadata["most"], 1e-9 if one.metadata["positive"] else one.metadata["least"]]
    for end in filter(math.isfinite, ends):
        assert check_range(one.name, np.dtype(number).type(end), number, one.metadata) == end


@pytest.mark.parametrize(("kind", "one", "types"), BOOLS)
def test_neither_true_nor_false(kind: Any, one: Field[Any], types: set[Any]) -> None:
    for value in ("no", 1, None, np.ones(2, bool)):
        refuses(kind, one.name, value)

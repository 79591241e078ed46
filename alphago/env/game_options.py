"""What a person may choose for a new game, described for dialogues: `Option`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from alphago.system.validation import check_int

HIDDEN = ("planes", "max_moves", "first_pass")  # keys of a game's config that a person does not choose
TITLES = {"board_size": "Size"}  # titles of options that several games have
MOST = 4000  # the limit of a whole number whose Option has no `most`
YES, NO = "yes", "no"


@dataclass(frozen=True)
class Option:
    """One option of a new game, which a person may choose.

    Attributes:
        name: the keyword.
        title: the words for people.
        value: the present value, a number or a text.
        choices: the texts to choose from; () for a number or any text.
        least, most: the limits of a number; None for no limit.
        step: the difference of neighbouring numbers.
        common: numbers to choose with one click.
        follows: the name of another option on which the usual value depends, such as "board_size" for the komi; "" for
            none.
        usual: the usual value for each value of the option `follows`.
        also: values of other options, by name, which choosing this option brings along: a handicap of 2 or more in Go
            also sets the komi to 0.5, unless the person has chosen a komi.
        at_start: whether the option belongs to the start position, and so is a keyword of `GameEnv.position` (a
            handicap), not of the game (a komi).
    """

    name: str
    title: str
    value: Any
    choices: tuple[str, ...] = ()
    least: float | None = 0
    most: float | None = None
    step: float = 1
    common: tuple[float, ...] = ()
    usual: Mapping[int, float] = field(default_factory=dict)
    follows: str = ""
    also: Mapping[str, float] = field(default_factory=dict)
    at_start: bool = False

    def read(self, given: Any) -> Any:
        """Return the given value in the type that the game takes: a text such as "9" becomes a number.

        Raises:
            ValueError: if the option is a whole number and the value is not one within the limits.
        """
        if self.choices == (YES, NO):
            return {YES: True, NO: False}.get(given, given)  # the game refuses any other value
        if isinstance(self.value, int):
            # `check_int` needs both limits: 0 and MOST where the option has None.
            return check_int(self.name, as_number(given), int(self.least or 0), int(self.most or MOST))
        return as_number(given) if isinstance(self.value, float) else given


def to_option(name: str, value: object, **further: object) -> Option:
    """Return the option for a value of a game's config: a bool becomes the choice of "yes" and "no".

    Args:
        further: fields of Option, which replace those that follow from the value.
    """
    described: dict[str, Any] = {"title": TITLES.get(name, name.replace("_", " ")), "value": value}
    if isinstance(value, bool):
        described |= {"value": YES if value else NO, "choices": (YES, NO)}
    elif isinstance(value, int):
        described["least"] = 1  # such as a size; an option that may be 0 says so in `further`
    return Option(name, **{**described, **further})


def as_number(value: object) -> Any:
    """Return the number that a text stands for, such as the "9" in a link; any other value unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return int(value) if value.lstrip("-").isdecimal() else float(value)
    except ValueError:
        return value

"""The place of a part among settings: an object with settings of its own, of one of several classes."""

import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NoReturn

from alphago.system.validation import (
    UNSET,
    UnusedSetting,
    keywords_of,
    make_settings,
    near_misses,
    plain_number,
    qualified_name,
    shown,
)

Named = Mapping[str, Any]  # classes of parts, or objects with certain settings, by name
KIND = "kind"  # the entry of a part's settings that names its class
PLAIN = (bool, int, float, list, tuple, set, bytes)  # types of values that are no part


class Slot:
    """The place of one part: the keyword of the part, and the keywords of its settings.

    keyword: the keyword of the part.
    named: the parts that have names: classes, or objects with certain settings.
    default: the part where nothing sets one; None for none.
    title: the heading of the flags of its settings.
    kind: the class of the part where only settings are given; None for the default's, or the first with a name.
    prefix: the beginning of the keywords of its settings; with None the settings of the usual class have their own
        names, and those of another class begin with the class's name and "_".
    first: whether a number, a text or a sequence may stand for the object: it is its first setting's value.
    optional: whether None stands for no part.
    form: whether names and settings remain a form, a dictionary, until a new run's plan makes the object from it, since
        defaults of its settings depend on other settings.
    """

    def __init__(
        self,
        keyword: str,
        named: Named,
        default: object,
        *,
        title: str,
        kind: type | None = None,
        prefix: str | None = "",
        first: bool = False,
        optional: bool = False,
        form: bool = False,
    ) -> None:
        self.keyword, self.named, self.default = keyword, named, default
        self.title, self.first, self.optional, self.form = title, first, optional, form
        if kind is None and default is not None:
            kind = type(default)
        self.classes: dict[type, str] = {}  # the classes that have a name, each with its first name
        for name, item in named.items():
            self.classes.setdefault(item if isinstance(item, type) else type(item), name)
        if kind is not None:
            self.classes.setdefault(kind, keyword)
        self.usual = kind or next(iter(self.classes), object)
        # By the keyword of a setting of the part: the classes that have the setting, each with its name there.
        self.owners: dict[str, dict[type, str]] = {}
        for owner, name in self.classes.items():
            begin = prefix
            if begin is None:
                begin = "" if owner is self.usual else f"{name.replace('-', '_')}_"
            for field in fields(owner)[1 if first else 0 :]:  # the keyword of the part is the first setting's
                self.owners.setdefault(begin + field.name, {})[owner] = field.name

    def merge(self, before: object, given: Mapping[str, object]) -> Any:
        """Return the part `before`, changed as the keywords in `given` say; `given` may have other keywords too."""
        chosen = given.get(self.keyword, UNSET)
        part = before if chosen is UNSET else self.read(chosen, before)
        settings = {keyword: given[keyword] for keyword in self.owners if keyword in given}
        if not settings:
            return part
        if chosen is None:
            keyword, value = next(iter(settings.items()))
            raise ValueError(f"{keyword} must be left out where {self.keyword} is None, got {shown(value)}")
        kind, values = self.kind_of(part), {}
        for keyword, value in settings.items():
            owner = next((owner for owner in self.owners[keyword] if issubclass(kind, owner)), None)
            if owner is None:
                self.refuse(keyword, kind)
            values[self.owners[keyword][owner]] = value
        return self.change(part, values)

    def read(self, given: object, before: object) -> Any:
        """Return the part that the value `given` of the keyword stands for: a name, settings, an object.

        before: the part so far, which a name of its class leaves as it is, and of which settings change some.
        """
        given = plain_number(given)
        is_empty = self.optional and self.first and given in ((), [])  # such as an empty list of opponents
        if given is None or is_empty:
            if not (self.optional or self.form):
                raise ValueError(f"{self.keyword} must have a value, got None")
            return None
        if isinstance(given, str) and given in self.named:
            return self.read_name(given, before)
        if isinstance(given, Mapping):
            values = {name: plain_number(value) for name, value in given.items()}
            part = self.read(values.pop(KIND), before) if KIND in values else before
            return self.change(part, values)
        if isinstance(given, (str, *PLAIN)):
            if not self.first:
                error = ValueError if isinstance(given, str) else TypeError
                raise error(f"{self.keyword} must be {self.expected}, got {shown(given)}")
            first_setting = fields(self.kind_of(before))[0].name
            return self.change(before, {first_setting: given})
        return given

    def read_name(self, name: str, before: object) -> Any:
        """Return the part or form with a name; `before` if the name is that of its class."""
        item = self.named[name]
        if not isinstance(item, type):
            return item
        if self.form:
            return before if self.kind_of(before) is item else {KIND: qualified_name(item)}
        return before if type(before) is item else item()

    def change(self, part: object, values: Mapping[str, object]) -> Any:
        """Return a part with other values of its settings, or a new part with them if `part` is None.

        values: by the names of the settings in the part's class.
        Raises ValueError for a setting that only another part has, TypeError for one that no part has.
        """
        kind = self.kind_of(part)
        names = [field.name for field in fields(kind)] if is_dataclass(kind) else []
        for name in values:
            if name not in names:
                self.refuse(name, kind)
        if self.form and (part is None or isinstance(part, Mapping)):
            return {**(part or {}), **values}
        before = {} if part is None else {name: getattr(part, name) for name in names}
        return make_settings(kind, **{**before, **values})

    def refuse(self, name: str, kind: type) -> NoReturn:
        """Raise the error for a setting that a part of the class `kind` does not have.

        name: the setting's keyword, or its name in the classes that have it.
        """
        owners = list(self.owners.get(name, [])) or [owner for owner in self.classes if name in keywords_of(owner)]
        if not owners:
            known = keywords_of(kind) if is_dataclass(kind) else []
            raise TypeError(f"{kind.__qualname__} has no keyword {shown(name)}: {near_misses(name, known)}")
        label = self.classes[owners[0]]
        this = f"these {self.keyword} are" if self.keyword.endswith("s") else f"this {self.keyword} is"
        whose = " and ".join(owner.__qualname__ for owner in owners)
        raise UnusedSetting(
            f"{name} is a setting of {whose}, but {this} {kind.__qualname__}",
            f'{self.keyword}="{label}"',
            (self.keyword, label),
        )

    def kind_of(self, part: object) -> type:
        """Return the class of a part or form; the usual one for None and for a form that names none."""
        if isinstance(part, Mapping):
            name = part.get(KIND)
            return next((kind for kind in self.classes if qualified_name(kind) == name), self.usual)
        return self.usual if part is None else type(part)

    @property
    def expected(self) -> str:
        """What the keyword takes, for messages."""
        names = "".join(f"{name!r}, " for name in self.named)
        return f"{names}a {self.usual.__qualname__}, a dictionary of settings{' or None' * self.optional}"

    def save(self, part: object) -> Any:
        """Return the part as plain data for JSON, with the name of its class if there are several."""
        if part is None or isinstance(part, Mapping):
            return part
        return save_part(part, self.classes if len(self.classes) > 1 else {}, bare=type(part) in self.classes)

    def load(self, saved: Any, given: Mapping[str, Any], who: str) -> Any:
        """Return the part that `save` made plain data.

        given: the keywords of a call, which has to repeat a function or an object whose settings are not saved.
        who: whose part it is, for messages.
        """
        if saved is None:
            return None
        classes = {name: kind for kind, name in self.classes.items()}
        return load_part(saved, classes, self.usual, [given.get(self.keyword)], keyword=self.keyword, who=who)


def save_part(part: object, classes: Mapping[type, str], *, bare: bool = False) -> dict[str, Any]:
    """Return an object with settings as plain data.

    classes: names of classes; the name of another class is "module:class".
    bare: whether the data need no name of a class that `classes` lacks.
    """
    if hasattr(part, "__qualname__"):  # a function or a class
        return {"function": qualified_name(part)}
    values = {field.name: plain(getattr(part, field.name)) for field in fields(part)} if is_dataclass(part) else {}
    if bare and type(part) not in classes:
        return values
    return {KIND: classes.get(type(part)) or qualified_name(type(part)), **values}


def load_part(
    saved: Mapping[str, Any],
    classes: Mapping[str, type],
    usual: type | None,
    given: Iterable[Any],
    *,
    keyword: str,
    who: str,
) -> Any:
    """Return the object with settings that `save_part` made plain data.

    classes: the classes that have names.  usual: the class of data without a name.
    given: what a call gives for the keyword: functions, and objects of classes that have no names.
    keyword, who: for messages.
    """
    if "function" in saved:
        return named_function(saved["function"], given, keyword=keyword, who=who)
    values = {name: loaded(value) for name, value in saved.items() if name != KIND}
    name = saved.get(KIND)
    kind = usual if name is None else classes.get(name)
    if kind is None:
        found = next((one for one in given if qualified_name(type(one)) == name), None)
        if found is not None and not values:
            return found  # an object whose settings are not saved
        kind = type(found) if found is not None else imported(str(name), keyword=keyword, who=who)
    return make_settings(kind, **values)


def named_function(name: str, given: Iterable[object], *, keyword: str, who: str) -> Any:
    """Return the function called `name` among those given; raise ValueError if it is not there."""
    for one in given:
        if hasattr(one, "__qualname__") and qualified_name(one).replace(":", ".") == name.replace(":", "."):
            return one
    raise ValueError(f"{who} has a custom {keyword}, {name}: pass that function as {keyword}=…")


def imported(name: str, *, keyword: str, who: str) -> type:
    """Return the class of settings called `name`, "module:class"; raise ValueError if it cannot be imported."""
    try:
        kind = pkgutil.resolve_name(name)
        if not (isinstance(kind, type) and is_dataclass(kind)):
            raise TypeError("it is no class of settings")
    except Exception as error:  # importing a module runs it
        raise ValueError(
            f"{who} has a {keyword} of its own class, {name}, which cannot be imported ({error}): "
            f"pass settings of that class as {keyword}=…"
        ) from error
    return kind


def plain(value: object) -> Any:
    """Return a setting's value as plain data for JSON: a function as {"function": its name}, all else unchanged."""
    return {"function": qualified_name(value)} if hasattr(value, "__qualname__") else value


def loaded(value: object) -> Any:
    """Return a value from JSON with tuples in place of lists."""
    return tuple(map(loaded, value)) if isinstance(value, list) else value

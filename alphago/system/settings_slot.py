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
VALUES = (str, bool, int, float, list, tuple, set, bytes)  # types that are values of settings, never parts


class Slot:
    """The place of one part: the keyword of the part, and the keywords of its settings.

    keyword: the keyword of the part.
    named: the parts that have names: classes, or objects with certain settings.
    default: the part if no keyword sets it; None for no part.
    title: the heading of the flags of the part's settings.
    kind: the default class, of which a part is made if only settings are given; None for the class of `default`, or
        for the first class in `named`.
    prefix: the beginning of the keywords of the part's settings.  With None, the keywords of the default class are the
        names of its settings, and those of another class begin with the class's name and "_".
    first: whether a number, a text or a sequence may be given in place of the part: the value of its first setting.
    optional: whether None may be given, for no part.
    form: whether a name or settings are kept as a form, a dictionary, from which a new run's plan makes the part; this
        is needed if the defaults of its settings depend on other settings.
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
        self.default_class = kind or next(iter(self.classes), object)
        # For each keyword of a setting: the classes that have the setting, and the name of its field in each of them.
        self.owners: dict[str, dict[type, str]] = {}
        for owner, name in self.classes.items():
            begin = prefix
            if begin is None:
                begin = "" if owner is self.default_class else f"{name.replace('-', '_')}_"
            # With `first`, the keyword of the part itself sets the first setting.
            with_keyword = fields(owner)[1:] if first else fields(owner)
            for field in with_keyword:
                self.owners.setdefault(begin + field.name, {})[owner] = field.name

    def merge(self, before: object, given: Mapping[str, object]) -> Any:
        """Return the part after a call; raise an error for a setting that the part does not have.

        before: the part before the call.
        given: the keywords of the call, among which may be keywords that are not this slot's.
        """
        chosen = given.get(self.keyword, UNSET)
        part = before if chosen is UNSET else self.read(chosen, before)
        settings = {keyword: given[keyword] for keyword in self.owners if keyword in given}
        if not settings:
            return part
        if chosen is None:
            keyword, value = next(iter(settings.items()))
            raise ValueError(f"{keyword} must be left out where {self.keyword} is None, got {shown(value)}")
        kind = self.class_of(part)
        values = {}  # by the names of the fields
        for keyword, value in settings.items():
            field_names = self.owners[keyword]  # by class
            owner = next((owner for owner in field_names if issubclass(kind, owner)), None)
            if owner is None:
                self.refuse(keyword, kind)
            values[field_names[owner]] = value
        return self.change(part, values)

    def read(self, given: object, before: object) -> Any:
        """Return the part for a value of the keyword.

        given: the value: a name, a dictionary of settings, the value of the first setting, None, or the part itself.
        before: the part so far.  The name of its class leaves it unchanged; settings change those that they name.
        """
        given = plain_number(given)
        may_be_none = self.optional or self.form  # from None in place of a form, the plan makes the usual part
        is_empty = self.optional and self.first and given in ((), [])  # an empty list of opponents, for example
        if given is None or is_empty:
            if not may_be_none:
                raise ValueError(f"{self.keyword} must have a value, got None")
            return None
        if isinstance(given, str) and given in self.named:
            return self.read_name(given, before)
        if isinstance(given, Mapping):
            values = {name: plain_number(value) for name, value in given.items()}
            part = self.read(values.pop(KIND), before) if KIND in values else before
            return self.change(part, values)
        if isinstance(given, VALUES):
            if not self.first:
                error = ValueError if isinstance(given, str) else TypeError
                raise error(f"{self.keyword} must be {self.expected}, got {shown(given)}")
            first_setting = fields(self.class_of(before))[0].name
            return self.change(before, {first_setting: given})
        return given  # the part itself

    def read_name(self, name: str, before: object) -> Any:
        """Return the part or form with this name; return `before` if it is of the class with this name already."""
        item = self.named[name]
        if not isinstance(item, type):  # an object with certain settings
            return item
        if self.form:
            return before if self.class_of(before) is item else {KIND: qualified_name(item)}
        return before if type(before) is item else item()

    def change(self, part: object, values: Mapping[str, object]) -> Any:
        """Return a part with other values of its settings, or a new part with them if `part` is None.

        values: the other values, by the names of the settings in the part's class.
        Raises ValueError for a setting that only another part has, TypeError for one that no part has.
        """
        kind = self.class_of(part)
        names = [field.name for field in fields(kind)] if is_dataclass(kind) else []
        for name in values:
            if name not in names:
                self.refuse(name, kind)
        if self.form and (part is None or isinstance(part, Mapping)):  # a form stays one, for the plan to make the part
            return {**(part or {}), **values}
        before = {} if part is None else {name: getattr(part, name) for name in names}
        return make_settings(kind, **{**before, **values})

    def refuse(self, name: str, kind: type) -> NoReturn:
        """Raise the error for a setting that a part of the class `kind` does not have.

        The error is UnusedSetting, which names a part with this setting, or TypeError if no part has it.

        name: the setting's keyword, as in a call, or the name of its field, as in a dictionary of settings.
        """
        owners = list(self.owners.get(name, ()))  # if `name` is a keyword
        if not owners:
            owners = [owner for owner in self.classes if name in keywords_of(owner)]  # if it is the name of a field
        if not owners:
            known = keywords_of(kind) if is_dataclass(kind) else []
            raise TypeError(f"{kind.__qualname__} has no keyword {shown(name)}: {near_misses(name, known)}")
        owner_label = self.classes[owners[0]]  # the name of a part that has the setting
        this_part_is = f"these {self.keyword} are" if self.keyword.endswith("s") else f"this {self.keyword} is"
        owner_names = " and ".join(owner.__qualname__ for owner in owners)
        raise UnusedSetting(
            f"{name} is a setting of {owner_names}, but {this_part_is} {kind.__qualname__}",
            way=f'{self.keyword}="{owner_label}"',
            option=(self.keyword, owner_label),
        )

    def class_of(self, part: object) -> type:
        """Return the class of a part or form; the default class for None and for a form that names no class."""
        if isinstance(part, Mapping):
            name = part.get(KIND)
            return next((kind for kind in self.classes if qualified_name(kind) == name), self.default_class)
        return self.default_class if part is None else type(part)

    @property
    def expected(self) -> str:
        """The values that the keyword takes, for messages."""
        names = "".join(f"{name!r}, " for name in self.named)
        or_none = " or None" if self.optional else ""
        return f"{names}a {self.default_class.__qualname__}, a dictionary of settings{or_none}"

    def save(self, part: object) -> Any:
        """Return the part as plain data for JSON, with the name of its class if there are several."""
        if part is None or isinstance(part, Mapping):
            return part
        is_only_class = list(self.classes) == [type(part)]
        return save_part(part, self.classes, with_name=not is_only_class)

    def load(self, saved: Any, given: Mapping[str, Any], who: str) -> Any:
        """Return the part from the plain data that `save` returned.

        given: the keywords of the call.  A function, and an object whose settings are not saved, must be given again.
        who: whose part it is, for messages.
        """
        if saved is None:
            return None
        classes = {name: kind for kind, name in self.classes.items()}
        return load_part(saved, classes, self.default_class, [given.get(self.keyword)], keyword=self.keyword, who=who)


def save_part(part: object, classes: Mapping[type, str], *, with_name: bool = True) -> dict[str, Any]:
    """Return an object with settings as plain data: the name of its class, as `kind`, and its settings.

    A function becomes {"function": name}; an object that is no dataclass has only the name of its class.

    classes: the names of classes; the name of any other class is "module:class".
    with_name: whether the data have the name of the class.
    """
    if hasattr(part, "__qualname__"):  # only functions and classes have it
        return {"function": qualified_name(part)}
    values = {}
    if is_dataclass(part):
        values = {field.name: value_to_data(getattr(part, field.name)) for field in fields(part)}
    if not with_name:
        return values
    return {KIND: classes.get(type(part)) or qualified_name(type(part)), **values}


def load_part(
    saved: Mapping[str, Any],
    classes: Mapping[str, type],
    default_class: type | None,
    given: Iterable[Any],
    *,
    keyword: str,
    who: str,
) -> Any:
    """Return the object with settings from the plain data that `save_part` returned.

    classes: the classes that have names, by name.  default_class: the class of data without a name.
    given: the values of the keyword in the call: functions, and objects of classes that have no names.
    keyword: the keyword of the part, and who: whose part it is, for messages.
    """
    if "function" in saved:
        return named_function(saved["function"], given, keyword=keyword, who=who)
    values = {name: value_from_data(value) for name, value in saved.items() if name != KIND}
    name = saved.get(KIND)
    kind = default_class if name is None else classes.get(name)
    if kind is not None:
        return make_settings(kind, **values)
    same_class = next((part for part in given if qualified_name(type(part)) == name), None)
    if same_class is None:
        return make_settings(import_settings(str(name), keyword=keyword, who=who), **values)
    # An object without saved settings is no dataclass: it cannot be made again.
    return make_settings(type(same_class), **values) if values else same_class


def named_function(name: str, given: Iterable[object], *, keyword: str, who: str) -> Any:
    """Return the function called `name`, "module:name" or "module.name", among the given objects.

    Raises ValueError if it is not among them.
    """
    dotted_name = name.replace(":", ".")
    for item in given:
        if hasattr(item, "__qualname__") and qualified_name(item).replace(":", ".") == dotted_name:
            return item
    raise ValueError(f"{who} has a custom {keyword}, {name}: pass that function as {keyword}=…")


def import_settings(name: str, *, keyword: str, who: str) -> type:
    """Return the class of settings called `name`, "module:class"; raise ValueError if it cannot be imported."""
    try:
        kind = pkgutil.resolve_name(name)
        if not (isinstance(kind, type) and is_dataclass(kind)):
            raise TypeError("it is no class of settings")
    except Exception as error:  # importing a module runs its code, which may raise anything
        raise ValueError(
            f"{who} has a {keyword} of its own class, {name}, which cannot be imported ({error}): "
            f"pass settings of that class as {keyword}=…"
        ) from error
    return kind


def value_to_data(value: object) -> Any:
    """Return a setting's value as plain data for JSON: {"function": name} for a function, any other value unchanged."""
    return {"function": qualified_name(value)} if hasattr(value, "__qualname__") else value


def value_from_data(value: object) -> Any:
    """Return a setting's value from JSON, with tuples in place of lists."""
    return tuple(map(value_from_data, value)) if isinstance(value, list) else value

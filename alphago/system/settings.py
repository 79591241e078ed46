"""Settings by path: nested frozen dataclasses, and the flat keywords that reach into them.

A field of a `settings` class is a value (`setting`), or an object with settings of its own (`part`, `group`), such as a
search, which is Puct or Gumbel.  A setting's path joins names of fields, "search.c_puct"; a group, such as the settings
of self-play, gives no name of its own.  Most settings have a keyword too, "c_puct", which is also their flag; a
`path_only` one has none.

    spread(RunSettings, {"readouts": 64, "c_puct": 1.5})  -> {"readouts": 64, "search.c_puct": 1.5}
    change(RunSettings(), {"readouts": 64})               -> RunSettings(selfplay=SelfPlaySettings(readouts=64, …), …)
    to_data(settings), from_data(RunSettings, data)       -> plain data for JSON, and back
"""

import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, fields, is_dataclass, replace
from typing import Any, NoReturn, TypeVar

from alphago.system.validation import (
    check_keywords,
    list_keywords,
    near_misses,
    plain_number,
    qualified_name,
    setting,
    shown,
)

Kind = TypeVar("Kind")
KIND = "kind"  # the entry of a part's settings that names its class
VALUES = (str, bool, int, float, list, tuple, set, bytes)  # types that are values of settings, never parts


@dataclass(frozen=True)
class PartField:
    """The declaration of a field that holds an object with settings of its own.

    Attributes:
        kind: the class of which a part is made if only its settings are given.
        title: the heading of the flags of its settings; "" for "the" and the field's name.
        choices: the parts that have names: classes, or objects with certain settings.
        prefix: the beginning of the keywords of its settings.
        optional: whether there may be no part, None.  Then a number, a text or a sequence may stand for the part: the
            value of its first setting.
        is_group: whether the field has no keyword of its own, since there is one class only.
    """

    kind: type
    title: str
    choices: Mapping[str, Any]
    prefix: str = ""
    optional: bool = False
    is_group: bool = False

    @property
    def names(self) -> dict[type, str]:
        """The classes that have a name, each with its first name."""
        names: dict[type, str] = {}
        for name, item in self.choices.items():
            names.setdefault(item if isinstance(item, type) else type(item), name)
        return names

    @property
    def classes(self) -> list[type]:
        """The classes that settings of this part may belong to."""
        return list(dict.fromkeys([self.kind, *self.names]))

    @property
    def expected(self) -> str:
        """The values that the keyword takes, for messages."""
        names = "".join(f"{name!r}, " for name in self.choices)
        return f"{names}a {self.kind.__qualname__}, a dictionary of settings{' or None' if self.optional else ''}"

    def read(self, keyword: str, given: object, before: Any) -> Any:
        """Return the part for a value of its keyword.

        Args:
            given: a name, a dictionary of settings, or the part itself; for an optional part also None, or the value of
                the first setting.
            before: the part so far.  The name of its class leaves it unchanged; settings change those that they name.
        """
        given = plain_number(given)
        if given is None or (self.optional and given in ((), [])):  # an empty list, as of opponents
            return None
        # A name of `choices`, or "module:class"; where a text may stand for the part, it can have a colon of its own.
        if isinstance(given, str) and (given in self.choices or (":" in given and not self.optional)):
            item = self.choices[given] if given in self.choices else named_class(given, keyword, "this call")
            if not isinstance(item, type):
                return item
            return before if type(before) is item else item()
        if isinstance(given, Mapping):
            values = {name: plain_number(value) for name, value in given.items()}
            part = self.read(keyword, values.pop(KIND), before) if KIND in values else before
            # In a dictionary settings have their own names; `prefix` is for the message about an unknown one.
            return self.change(keyword, part, values, prefix="")
        if isinstance(given, VALUES):
            if not self.optional:
                error = ValueError if isinstance(given, str) else TypeError  # a text may be a misspelt name
                raise error(f"{keyword} must be {self.expected}, got {shown(given)}")
            first_setting = fields(self.kind if before is None else before)[0].name
            return self.change(keyword, before, {first_setting: given})  # a known name, so that no prefix is needed
        return given  # the part itself

    def change(self, keyword: str, part: Any, values: Mapping[str, object], *, prefix: str | None = None) -> Any:
        """Return a part with other values of its settings, or a new part with them if `part` is None.

        Args:
            values: by path, relative to the part.
            prefix: as the keywords of the settings begin, for messages; None for the part's `prefix`.

        Raises:
            ValueError: for a setting that only another part has, in words that `alphago.cli.errors` makes flags of.
            TypeError: for one that no part has.
        """
        kind = self.kind if part is None else type(part)
        known = list_keywords(kind) if is_dataclass(kind) else []
        for name in values:
            if name.partition(".")[0] not in known:
                self.refuse(keyword, name, kind, self.prefix if prefix is None else prefix)
        return kind(**values) if part is None else change(part, values)

    def refuse(self, keyword: str, name: str, kind: type, prefix: str) -> NoReturn:
        """Raise the error for a setting that a part of the class `kind` does not have, as `change` says."""
        owners = [owner for owner in self.classes if name in list_keywords(owner)]
        if not owners:
            known = list(dict.fromkeys(name for owner in (kind, *self.classes) for name in list_keywords(owner)))
            raise TypeError(f"{kind.__qualname__} has no keyword {shown(name)}: {near_misses(name, known)}")
        label = self.names.get(owners[0], qualified_name(owners[0]))
        these_are = f"these {keyword} are" if keyword.endswith("s") else f"this {keyword} is"
        owner_names = " and ".join(owner.__qualname__ for owner in owners)
        raise ValueError(
            f"{prefix}{name} is a setting of {owner_names}, but {these_are} {kind.__qualname__}: "
            f'give {keyword}="{label}"'
        )


def part(text: str, *, default: Any, kind: type | None = None, **more: Any) -> Any:
    """Declare a field that holds an object with settings of its own; it is optional if its default is None.

    Args:
        text: the help.
        kind: by default the class of `default`.
        more: other fields of PartField, and keywords of `setting`.
    """
    own = {field.name: more.pop(field.name) for field in fields(PartField) if field.name in more}
    usual = {"kind": kind or type(default), "title": "", "choices": {}, "optional": default is None}
    return setting(text, default=default, part=PartField(**{**usual, **own}), **more)


def group(title: str, kind: type[Kind], **defaults: object) -> Kind:
    """Declare a field that is an object of the settings class `kind`; `title` is the heading of its flags.

    Args:
        defaults: defaults other than those of `kind`.
    """
    made: Kind = setting(title, default=kind(**defaults), part=PartField(kind, title, {}, is_group=True))
    return made


@dataclass(frozen=True)
class Address:
    """A setting, by its path and its keyword.

    Attributes:
        keyword: "" for a setting that has only its path.
        title: the heading of its flag; "" for settings of the root.
        owner, field: the class that has the setting, and its declaration there; those of a part's first setting if
            values of that stand for the part.
        kinds: the names of the parts that have the setting, if other parts lack it; else ().
        part: the declaration of the part, if the setting is one.
    """

    path: str
    keyword: str
    title: str
    owner: type
    field: Field[Any]
    default: Any
    kinds: tuple[str, ...] = ()
    part: PartField | None = None


def part_declaration(field: Field[Any]) -> PartField | None:
    """Return the declaration of the part that a field holds; None for a field that holds a value."""
    declared: PartField | None = field.metadata.get("part")
    return declared


def addresses(root: type) -> dict[str, Address]:
    """Return all settings of the class `root`, of its groups and parts, by path.

    It is not cached, since a part may get a name at any time.

    Raises:
        ValueError: if two settings have one keyword.
    """
    found: dict[str, Address] = {}
    keywords: dict[str, str] = {}  # the first path of each
    for address in _walk(root):
        earlier = found.setdefault(address.path, address)  # the address itself, if the path is new
        path = keywords.setdefault(address.keyword, address.path) if address.keyword else address.path
        is_in_part = "." in path  # several classes of a part may have a setting
        if path != address.path or not (is_in_part or earlier is address):
            raise ValueError(f"two settings have the keyword {address.keyword}: {path} and {address.path}")
        found[address.path] = replace(earlier, kinds=tuple(dict.fromkeys((*earlier.kinds, *address.kinds))))
    return found


def _walk(owner: type, path: str = "", title: str = "", prefix: str = "", instance: object = None) -> Iterator[Address]:
    """Yield the addresses of a class's settings, and of the settings of its parts.

    A setting that several classes of a part have is yielded for each of them.

    path, title, prefix: of the part to which the settings belong; "" for settings of the root.
    instance: an object of the class, which has the defaults; None for the class's own.
    """
    for field in fields(owner):
        own_path, default = path + field.name, field.default if instance is None else getattr(instance, field.name)
        declared = part_declaration(field)
        if declared is None:
            keyword = "" if field.metadata.get("path_only", False) else prefix + field.name
            yield Address(own_path, keyword, title, owner, field, default)
            continue
        if declared.is_group:  # it adds nothing to the path
            yield from _walk(declared.kind, path, declared.title, prefix, instance=default)
            continue
        title_of_part = declared.title or f"the {field.name}"
        # An optional part's keyword takes values of its first setting, which then needs no address of its own.
        flag_from = (declared.kind, fields(declared.kind)[0]) if declared.optional else (owner, field)
        yield Address(own_path, field.name, title_of_part, *flag_from, default, part=declared)
        for kind in declared.classes:
            defaults = default if type(default) is kind else None
            inner = list(_walk(kind, own_path + ".", title_of_part, declared.prefix, instance=defaults))
            for address in inner[1:] if declared.optional else inner:
                name = address.path.removeprefix(own_path + ".").partition(".")[0]
                all_have_it = all(name in list_keywords(other) for other in declared.classes)
                kinds = () if all_have_it else (declared.names.get(kind, field.name),)
                yield replace(address, kinds=address.kinds or kinds)  # those of a part within this part come first


def keywords(root: type) -> list[str]:
    """Return the keywords of all settings that have one."""
    return [address.keyword for address in addresses(root).values() if address.keyword]


def spread(root: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by path; given: by keyword or by path.

    Raises:
        TypeError: which suggests similar names, for an unknown one.
    """
    known = addresses(root)
    paths = {address.keyword: path for path, address in known.items() if address.keyword}
    paths_only = [path for path in known if path not in paths]  # those that are not keywords as well
    check_keywords(root.__qualname__, given, [*paths, *paths_only])
    return {paths.get(name, name): value for name, value in given.items()}


def make(root: type[Kind], given: Mapping[str, Any]) -> Kind:
    """Return settings of the class `root`; given: values by keyword or by path, for others than the defaults.

    Raises:
        TypeError: for an unknown keyword.
        ValueError: for a value out of range, and for a setting that the chosen part does not have.
    """
    return change(root(), spread(root, given))


def change(before: Kind, given: Mapping[str, Any]) -> Kind:
    """Return settings with other values.

    Args:
        given: values by path, relative to `before`; paths that begin with no field of `before` are not read.

    Raises:
        ValueError, TypeError: as `make`.
    """
    made = {}
    for field in fields(before):  # type: ignore[arg-type]
        name, declared = field.name, part_declaration(field)
        made[name] = getattr(before, name)
        if declared is not None and declared.is_group:  # paths do not name it
            made[name] = change(made[name], given)
            continue
        if name in given:
            # None stands for the default of a part that is not optional.
            is_usual = declared is not None and given[name] is None and not declared.optional
            value = field.default if is_usual else given[name]
            made[name] = value if declared is None else declared.read(name, value, made[name])
        if inner := below(given, name):
            assert declared is not None
            if name in given and given[name] is None:
                path, value = next(iter(inner.items()))
                raise ValueError(f"{declared.prefix}{path} must be left out where {name} is None, got {shown(value)}")
            made[name] = declared.change(name, made[name], inner)
    return type(before)(**made)


def below(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the values of a part's settings, by path relative to the part; given: by path."""
    return {path.partition(".")[2]: value for path, value in given.items() if path.startswith(f"{name}.")}


def to_data(settings: Any) -> dict[str, Any]:
    """Return settings as plain data for JSON; parts of several classes have their class's name as `kind`."""
    return {
        field.name: value_to_data(getattr(settings, field.name), part_declaration(field)) for field in fields(settings)
    }


def value_to_data(value: Any, declared: PartField | None = None) -> Any:
    """Return a setting's value as plain data for JSON.

    A function becomes {"function": name}; an object that is no dataclass has only the name of its class.
    """
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if hasattr(value, "__qualname__"):  # only functions and classes have it
        return {"function": qualified_name(value)}
    if isinstance(value, (tuple, list)):
        return [value_to_data(item) for item in value]
    kind = type(value)
    data = to_data(value) if is_dataclass(value) else {}
    if declared is not None and declared.classes == [kind]:  # the only class needs no name
        return data
    names = {} if declared is None else declared.names
    return {KIND: names.get(kind, qualified_name(kind)), **data}


def from_data(kind: type[Kind], data: Mapping[str, Any], given: Mapping[str, Any], who: str) -> Kind:
    """Return the settings from the plain data that `to_data` returned.

    Args:
        given: values of the call by path.  Functions, and objects whose settings are not saved, must be given again.
        who: whose settings they are, for messages.

    Raises:
        TypeError or KeyError: for data of another form.
        ValueError: if the call lacks a function.
    """
    check_keywords(kind.__qualname__, data, list_keywords(kind))
    values = {}
    for field in fields(kind):  # type: ignore[arg-type]
        name, declared = field.name, part_declaration(field)
        inner = given if declared is not None and declared.is_group else below(given, name)
        values[name] = value_from_data(data[name], declared, given.get(name), inner, keyword=name, who=who)
    return kind(**values)


def value_from_data(
    data: Any, declared: PartField | None, candidates: Any, given: Mapping[str, Any], *, keyword: str, who: str
) -> Any:
    """Return a setting's value from its plain data.

    Args:
        candidates: the call's value, or values, of this setting.
        given: the call's values of its inner settings, by path.
        keyword, who: the setting and its owner, for messages.
    """
    if isinstance(data, list):
        return tuple(value_from_data(item, None, candidates, {}, keyword=keyword, who=who) for item in data)
    if not isinstance(data, Mapping):
        return data
    items = candidates if isinstance(candidates, (tuple, list)) else [candidates]
    if "function" in data:
        name = data["function"]
        for item in items:
            if hasattr(item, "__qualname__") and qualified_name(item) == name:
                return item
        raise ValueError(f"{who} has a custom {keyword}, {name}: pass that function as {keyword}=…")
    name = data.get(KIND)
    same_class = next((item for item in items if qualified_name(type(item)) == name), None)
    kinds: dict[Any, Any] = {}  # by name; None where the data name no class, since there is one only
    if declared is not None:
        kinds = {None: declared.kind} | {known: kind for kind, known in declared.names.items()}
    kind = kinds.get(name) or (named_class(str(name), keyword, who) if same_class is None else type(same_class))
    if not is_dataclass(kind):
        return same_class  # an object without saved settings, which only the call can give
    return from_data(kind, {name: value for name, value in data.items() if name != KIND}, given, who)


def named_class(name: str, keyword: str, who: str) -> type:
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


def changes(before: Any, after: Any, *, structural: bool = False) -> dict[str, tuple[Any, Any]]:
    """Return the old and the new value of each setting that differs, by the field's name; a part is one value.

    Args:
        structural: whether to return only those that a run must keep.
    """
    found: dict[str, tuple[Any, Any]] = {}
    for field in fields(before):
        was, now = getattr(before, field.name), getattr(after, field.name)
        declared = part_declaration(field)
        if declared is not None and declared.is_group:
            found |= changes(was, now, structural=structural)
        elif was != now and (must_keep(field, was, now) or not structural):
            found[field.name] = was, now
    return found


def must_keep(field: Field[Any], was: object, now: object) -> bool:
    """Return whether a run must keep a setting that a call would change from `was` to `now`.

    If both values are parts of one class, this depends on the settings of the part that differ.
    """
    if is_dataclass(was) and type(was) is type(now):
        structural = [inner.name for inner in fields(was) if inner.metadata.get("structural", False)]
        return any(getattr(was, name) != getattr(now, name) for name in structural)
    return bool(field.metadata["structural"])

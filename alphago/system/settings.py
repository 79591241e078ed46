"""Settings by path: nested frozen dataclasses, and the flat keywords that reach into them.

A field of a `settings` class holds a value (`setting`), or an object with settings of its own: a `part`, such as a
search, which is Puct or Gumbel, or a `group`, such as the settings of self-play, of which there is one class only.  A
setting's path joins the names of its part and its field, "search.c_puct"; groups are not named in it.  Most settings
have a keyword too, "c_puct", which is also their flag; a `path_only` setting has none.

    values_by_path(RunSettings, {"readouts": 64, "c_puct": 1.5})  -> {"readouts": 64, "search.c_puct": 1.5}
    change_settings(RunSettings(), {"readouts": 64})  -> RunSettings(selfplay=SelfPlaySettings(readouts=64, …), …)
    to_data(settings)  -> plain data for JSON, which `from_data` of `training/settings/saved_settings.py` reads
"""

from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, fields, is_dataclass, replace
from typing import Any, NoReturn, TypeVar

from alphago.system.own_modules import import_class
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
PLAIN_TYPES = (str, bool, int, float, list, tuple, set, bytes)  # types that are values of settings, never parts


@dataclass(frozen=True)
class PartField:
    """The declaration of a field that holds an object with settings of its own.

    Attributes:
        kind: the class of the part if only its settings are given.
        title: the heading of its flags on the command line; "" for "the" and the field's name.
        choices: the parts that have names, by name: classes, or objects with certain settings.
        prefix: the beginning of the keywords of its settings, such as "gate_".
        optional: whether the field may hold None, no part.  Then the value of the part's first setting, if it is a
            number, a text or a sequence, may stand for the part: `watch="random@0"`.
        is_group: whether the field is a group, which has no keyword of its own.
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
        """What may be given for this part, as a text for messages; None, for an optional part, is not in it."""
        return ", ".join([*map(repr, self.choices), f"a {self.kind.__qualname__}", "a dictionary of settings"])

    def to_part(self, keyword: str, given: object, before: Any) -> Any:
        """Return the part that a value of its keyword stands for.

        Args:
            keyword: the part's keyword, for messages.
            given: a name of `choices`, a class as "module:class", a dictionary of settings, or the part itself; for an
                optional part also None, or the value of the first setting.
            before: the part so far.  It is returned unchanged for the name of its own class; a dictionary changes the
                settings that it names.
        """
        given = plain_number(given)
        if given is None or (self.optional and given in ((), [])):  # an empty list, as of opponents
            return None
        # A text with a colon is a class, "module:class", unless the part is optional: then the text is a value of the
        # first setting, such as "gnugo:10".
        if isinstance(given, str) and (given in self.choices or (":" in given and not self.optional)):
            item = self.choices[given] if given in self.choices else named_class(given, keyword, who="this call")
            if not isinstance(item, type):
                return item
            return before if type(before) is item else item()
        if isinstance(given, Mapping):
            values = {name: plain_number(value) for name, value in given.items()}
            # The part whose settings are changed: one of the class that the dictionary names, or the part so far.
            part = self.to_part(keyword, values.pop(KIND), before) if KIND in values else before
            # In a dictionary settings have their own names, without a prefix.
            return self.change_part(keyword, part, values, prefix="")
        if not isinstance(given, PLAIN_TYPES):
            return given  # the part itself
        if not self.optional:
            error = ValueError if isinstance(given, str) else TypeError  # a text may be a misspelt name
            raise error(f"{keyword} must be {self.expected}, got {shown(given)}")
        first_setting = fields(self.kind if before is None else before)[0]
        return self.change_part(keyword, before, {first_setting.name: given})

    def change_part(self, keyword: str, part: Any, values: Mapping[str, object], *, prefix: str | None = None) -> Any:
        """Return a part with other values of its settings, or a new part with them if `part` is None.

        Args:
            keyword: the part's keyword, for messages.
            values: by path, relative to the part.
            prefix: the beginning of the settings' names in messages; None for the part's `prefix`.

        Raises:
            ValueError: for a setting that only another part has.  `alphago.cli.errors` replaces names in it by flags.
            TypeError: for a setting that no part has.
        """
        kind = self.kind if part is None else type(part)
        known = list_keywords(kind) if is_dataclass(kind) else []
        for name in values:
            if name.partition(".")[0] not in known:
                self.refuse_setting(keyword, name, kind, self.prefix if prefix is None else prefix)
        return kind(**values) if part is None else change_settings(part, values)

    def refuse_setting(self, keyword: str, name: str, kind: type, prefix: str) -> NoReturn:
        """Raise the error of `change_part` for the setting `name`, which a part of the class `kind` does not have.

        If another class of this part has the setting, the message names the class and how to choose it: 'c_scale is a
        setting of Gumbel, but this search is Puct: give search="gumbel"'.

        Args:
            keyword: the part's keyword, "search".
            prefix: what stands before the setting's name in the message.
        """
        owners = [owner for owner in self.classes if name in list_keywords(owner)]
        if not owners:
            known = list(dict.fromkeys(item for owner in (kind, *self.classes) for item in list_keywords(owner)))
            raise TypeError(f"{kind.__qualname__} has no keyword {shown(name)}: {near_misses(name, known)}")
        label = self.names.get(owners[0], qualified_name(owners[0]))
        these_are = f"these {keyword} are" if keyword.endswith("s") else f"this {keyword} is"
        owner_names = " and ".join(owner.__qualname__ for owner in owners)
        how = f'give {keyword}="{label}"'
        raise ValueError(f"{prefix}{name} is a setting of {owner_names}, but {these_are} {kind.__qualname__}: {how}")


def part(text: str, *, default: Any, kind: type | None = None, **more: Any) -> Any:
    """Declare a field that holds an object with settings of its own; it is optional if its default is None.

    Args:
        text: the help.
        kind: by default the class of `default`.
        more: other fields of PartField, and keywords of `setting`.
    """
    # Taken out of `more`, whose other arguments are keywords of `setting`.
    own = {field.name: more.pop(field.name) for field in fields(PartField) if field.name in more}
    usual = {"kind": kind or type(default), "title": "", "choices": {}, "optional": default is None}
    return setting(text, default=default, part=PartField(**{**usual, **own}), **more)


def group(title: str, kind: type[Kind], **defaults: object) -> Kind:
    """Declare a field that is an object of the settings class `kind`; `title` is the heading of its flags.

    Args:
        defaults: defaults other than those of `kind`.
    """
    made: Kind = setting(title, default=kind(**defaults), part=PartField(kind, title, choices={}, is_group=True))
    return made


@dataclass(frozen=True)
class Address:
    """A setting, by its path and its keyword.

    Attributes:
        keyword: "" for a setting that has only its path.
        title: the heading of its flag; "" for settings of the root.
        owner: the class that has the setting.
        field: the setting's field in `owner`, which tells the type and help of its flag.  For an optional part, owner
            and field are those of the part's first setting, since a value of that may stand for the part.
        default: the setting's value in the root's default.
        kind_names: if only some classes of a part have the setting, such as only one search, their names; else ().
        part: the declaration of the part, if the setting is a part.
    """

    path: str
    keyword: str
    title: str
    owner: type
    field: Field[Any]
    default: Any
    kind_names: tuple[str, ...] = ()
    part: PartField | None = None


def part_declaration(field: Field[Any]) -> PartField | None:
    """Return the declaration of the part that a field holds; None for a field that holds a value."""
    declared: PartField | None = field.metadata.get("part")
    return declared


def addresses(root: type) -> dict[str, Address]:
    """Return the addresses of all settings of the class `root`, of its groups and parts, by path.

    The result is not cached, since `choices` of a part may get a further class at any time.

    Raises:
        ValueError: if two settings have one keyword.
    """
    by_name: dict[str, Address] = {}  # by keyword, or by path for settings without one
    for address in _walk(root):
        first = by_name.setdefault(address.keyword or address.path, address)  # the address itself, if the name is new
        # Several classes of a part may have a setting of the same name.  A part's settings have a dot in their path.
        is_shared = first.path == address.path and "." in address.path
        if first is not address and not is_shared:
            raise ValueError(f"two settings have the keyword {address.keyword}: {first.path} and {address.path}")
    return {address.path: address for address in by_name.values()}


def _walk(owner: type, path: str = "", title: str = "", prefix: str = "", instance: object = None) -> Iterator[Address]:
    """Yield the addresses of a class's settings, and of the settings of its groups and parts.

    A setting that several classes of a part have is yielded for each of them.

    Args:
        owner: the class.
        path: the beginning of the settings' paths: "search." if `owner` is the class of the part `search`.
        title: the heading of the settings' flags.
        prefix: the beginning of the settings' keywords.
        instance: an object of the class with the defaults; None for the defaults of the class.
    """
    for field in fields(owner):
        own_path = path + field.name
        default = field.default if instance is None else getattr(instance, field.name)
        declared = part_declaration(field)
        if declared is None:
            keyword = "" if field.metadata.get("path_only", False) else prefix + field.name
            yield Address(own_path, keyword, title, owner, field, default)
            continue
        if declared.is_group:  # it adds nothing to the path
            yield from _walk(declared.kind, path, declared.title, prefix, instance=default)
            continue
        title_of_part = declared.title or f"the {field.name}"
        # An optional part's keyword takes values of its first setting: `until="gnugo:10"` sets the `name` of `until`.
        # So the part's address has the class and the field of that setting, but the default of the whole part.  The
        # setting has no address of its own.
        owner_and_field = (declared.kind, fields(declared.kind)[0]) if declared.optional else (owner, field)
        yield Address(own_path, field.name, title_of_part, *owner_and_field, default, part=declared)
        for kind in declared.classes:
            part_of_kind = default if type(default) is kind else None
            inner = list(_walk(kind, own_path + ".", title_of_part, declared.prefix, instance=part_of_kind))
            for address in inner[1:] if declared.optional else inner:  # inner[0] is the first setting's
                name = address.path.removeprefix(own_path + ".").partition(".")[0]
                # Settings of a part within this part may already have names, of the inner part's classes.
                yield replace(address, kind_names=address.kind_names or _kinds_with(name, declared, field.name))


def _kinds_with(setting_name: str, declared: PartField, part_name: str) -> tuple[str, ...]:
    """Return the names of the classes of a part that have a setting; () if all of them have it.

    Args:
        part_name: the name of the part's field, which is given for a class that has no name.
    """
    owners = [kind for kind in declared.classes if setting_name in list_keywords(kind)]
    names = tuple(declared.names.get(kind, part_name) for kind in owners)
    return () if owners == declared.classes else names


def keywords(root: type) -> list[str]:
    """Return the keywords of all settings that have one."""
    return [address.keyword for address in addresses(root).values() if address.keyword]


def values_by_path(root: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return values of settings of the class `root` by path; given: the values by keyword or by path.

    Raises:
        TypeError: for an unknown keyword or path; the message suggests similar ones.
    """
    known = addresses(root)
    paths = {address.keyword: path for path, address in known.items() if address.keyword}
    check_keywords(root.__qualname__, given, list(paths | known))
    return {paths.get(name, name): value for name, value in given.items()}


def make_settings(root: type[Kind], given: Mapping[str, Any]) -> Kind:
    """Return settings of the class `root` with the given values and defaults for the others.

    Args:
        given: values by keyword or by path.

    Raises:
        TypeError: for an unknown keyword.
        ValueError: for a value out of range, and for a setting that the chosen part does not have.
    """
    return change_settings(root(), values_by_path(root, given))


def change_settings(before: Kind, given: Mapping[str, Any]) -> Kind:
    """Return settings with the given values in place of those in `before`.

    A part may be given as a whole, and then be changed by values of settings below it.

    Args:
        given: values by path, relative to `before`.  Paths that begin with no field of `before` are ignored: if
            `before` is a group, they are settings of other groups.

    Raises:
        ValueError, TypeError: as `make_settings`.
    """
    made = {}
    for field in fields(before):  # type: ignore[arg-type]
        name, declared = field.name, part_declaration(field)
        made[name] = getattr(before, name)
        if declared is not None and declared.is_group:  # paths do not name it
            made[name] = change_settings(made[name], given)
            continue
        if name in given:
            # For a part that is not optional, None stands for the default.
            takes_default = declared is not None and not declared.optional and given[name] is None
            value = field.default if takes_default else given[name]
            made[name] = value if declared is None else declared.to_part(name, value, made[name])
        if inner := values_below(given, name):  # changes of the part's settings, also of a part just given
            assert declared is not None  # only a part has settings below it
            if name in given and given[name] is None:
                path, value = next(iter(inner.items()))  # any of them, for the message
                raise ValueError(f"{declared.prefix}{path} must be left out where {name} is None, got {shown(value)}")
            made[name] = declared.change_part(name, made[name], inner)
    return type(before)(**made)


def values_below(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return those of the given values that belong to the part `name`: {"c_puct": 1} of {"search.c_puct": 1}."""
    return {path.partition(".")[2]: value for path, value in given.items() if path.startswith(f"{name}.")}


def to_data(settings: Any) -> dict[str, Any]:
    """Return settings as plain data for JSON.

    A part, if it may be of several classes, has the name of its class as "kind".
    """
    return {
        field.name: value_to_data(getattr(settings, field.name), part_declaration(field)) for field in fields(settings)
    }


def value_to_data(value: Any, declared: PartField | None = None) -> Any:
    """Return a setting's value as plain data for JSON.

    A function becomes {"function": name}; an object that is no dataclass becomes {"kind": name of its class}.

    Args:
        declared: the declaration of the setting's field, if it holds a part; None for any other value.
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


def named_class(name: str, keyword: str, who: str) -> type:
    """Return the class of settings called `name`, "module:class"; raise ValueError if it cannot be imported.

    Args:
        keyword: the setting that names it, for the message.
        who: whose setting that is, for the message.
    """
    try:
        kind = import_class(name)
        if not (isinstance(kind, type) and is_dataclass(kind)):
            raise TypeError("it is no class of settings")
    except Exception as error:  # importing a module runs its code, which may raise anything
        raise ValueError(
            f"{who} has a {keyword} of its own class, {name}, which cannot be imported ({error}): "
            f"pass settings of that class as {keyword}=…"
        ) from error
    return kind

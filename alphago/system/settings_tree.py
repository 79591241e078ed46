"""Settings in parts: flat keywords are spread over the parts, merged, saved, loaded and compared here.

A field of a `settings` class is of one of four sorts:

- `setting`: a value, such as a number or a function.
- `group`: an object of one settings class; its settings are keywords beside the others.
- `part`: one of several objects with settings of their own, such as a search, which is Puct or Gumbel.
- `parts`: several such objects, such as judges, at most one of each class that has a name.

A `SettingsTree` gives every setting one keyword, which is also its flag on the command line.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import Field, fields, is_dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from alphago.system.settings_slot import (
    Named,
    Slot,
    load_part,
    named_function,
    save_part,
    value_from_data,
    value_to_data,
)
from alphago.system.validation import check_keywords, make_settings, qualified_name, setting, shown

Root = TypeVar("Root")


def group(title: str, kind: type[Root], **defaults: object) -> Root:
    """Declare a field that is an object of the settings class `kind`; `title` is the heading of its flags.

    defaults: defaults other than those of `kind`.
    """
    made: Root = setting(title, default=kind(**defaults), group=kind)
    return made


def part(text: str, *, default: Any, title: str, **more: Any) -> Any:
    """Declare a field that is an object with settings of its own, of one of several classes.

    text: the help.  title: the heading of the flags of its settings.
    more: `kind`, `prefix`, `first`, `optional` and `form` as in Slot; other keywords as in `setting`.
    """
    options = {name: more.pop(name) for name in ("kind", "prefix", "first", "optional", "form") if name in more}
    return setting(text, default=default, part={"title": title, **options}, **more)


def parts(text: str, **more: Any) -> Any:
    """Declare a field that is a tuple of objects with settings of their own; each class with a name has a keyword.

    more: as in `setting`.
    """
    return setting(text, default=(), parts=True, **more)


class SettingEntry(NamedTuple):
    """A setting as a keyword and a flag.

    keyword: the setting's keyword.  title: the heading of its flag; "" for settings of the root.
    owner, field: the class that has the setting, and its declaration there.
    default: the setting's default.
    slot: the part's slot, if the keyword is that of a part.
    kinds: the names of the parts that have the setting, if other parts lack it; else ().
    """

    keyword: str
    title: str
    owner: type
    field: Field[Any]
    default: Any
    slot: Slot | None = None
    kinds: tuple[str, ...] = ()


class SettingsTree(Generic[Root]):
    """The settings of the class `root`, of its groups and of its parts, each with one keyword.

    root: the class.
    named: for each field declared with `part` or `parts`, the classes or objects that have names there.
    Raises ValueError if two settings have one keyword.
    """

    def __init__(self, root: type[Root], named: Mapping[str, Named] | None = None) -> None:
        self.root = root
        self.named = named or {}
        _ = self.entries  # raises ValueError for a keyword that two settings have

    @property
    def entries(self) -> dict[str, SettingEntry]:
        """All settings by keyword; not cached, since a class may get a name at any time."""
        entries: dict[str, SettingEntry] = {}
        for entry in self._walk(self.root, "", None):
            if entry.keyword in entries:
                raise ValueError(f"two settings have the keyword {entry.keyword}")
            entries[entry.keyword] = entry
        return entries

    @property
    def keywords(self) -> list[str]:
        """All keywords."""
        return list(self.entries)

    def slots(self, field: Field[Any]) -> dict[str, Slot]:
        """Return the slots of a field of sort `part` or `parts`, by keyword."""
        named = self.named.get(field.name, {})
        if "part" in field.metadata:
            return {field.name: self.part_slot(field)}
        return {name: judge_slot(name, made) for name, made in named.items()}

    def part_slot(self, field: Field[Any]) -> Slot:
        """Return the slot of a field of sort `part`."""
        return Slot(field.name, self.named.get(field.name, {}), field.default, **field.metadata["part"])

    def class_names(self, field: Field[Any]) -> dict[type, str]:
        """Return the names of the classes of a field of sort `parts`; each name is also the keyword of its class."""
        return {slot.default_class: name for name, slot in self.slots(field).items()}

    def _walk(self, kind: type[Any], title: str, made: object) -> Iterator[SettingEntry]:
        """Yield the entries of a class's settings, and of the settings of its groups and parts.

        title: as in SettingEntry.  made: an object of the class, which has the defaults; None for the class's own.
        """
        for field in fields(kind):
            if "group" in field.metadata:
                yield from self._walk(field.metadata["group"], field.metadata["help"], field.default)
                continue
            if "part" not in field.metadata:  # a part's own entry is made from its slot, below
                default = field.default if made is None else getattr(made, field.name)
                yield SettingEntry(field.name, title, kind, field, default)
            if "part" in field.metadata or "parts" in field.metadata:
                for slot in self.slots(field).values():
                    yield SettingEntry(slot.keyword, slot.title, kind, field, slot.default, slot)
                    yield from slot_entries(slot)

    def make(self, given: Mapping[str, Any], before: Root | None = None) -> Root:
        """Return settings made from keywords.

        given: values by keyword.  before: settings with the values of all other keywords; None for the defaults.
        Raises TypeError, which suggests similar names, for an unknown keyword; ValueError for a value out of range, and
        for a setting that the chosen part does not have.
        """
        check_keywords(self.root.__qualname__, given, self.keywords)
        made: Root = self._make(self.root, before, given)
        return made

    def _make(self, kind: type[Any], before: Any, given: Mapping[str, Any]) -> Any:
        """Return an object of the class `kind`, as `make` does for the root; `given` has keywords of all groups."""
        values = {}
        for field in fields(kind):
            was: Any = field.default if before is None else getattr(before, field.name)
            if "group" in field.metadata:
                values[field.name] = self._make(field.metadata["group"], was, given)
            elif "part" in field.metadata:
                values[field.name] = self.part_slot(field).merge(was, given)
            elif "parts" in field.metadata:
                values[field.name] = merge_parts(self.slots(field), field.name, was, given)
            else:
                values[field.name] = given.get(field.name, was)
        return make_settings(kind, **values)

    def to_data(self, settings: Any) -> dict[str, Any]:
        """Return settings of the tree, or of one of its groups, as plain data for JSON."""
        saved: dict[str, Any] = {}
        for field in fields(settings):
            value = getattr(settings, field.name)
            if "group" in field.metadata:
                saved[field.name] = self.to_data(value)
            elif "part" in field.metadata:
                saved[field.name] = self.part_slot(field).save(value)
            elif "parts" in field.metadata:
                names = self.class_names(field)
                saved[field.name] = [save_part(item, names) for item in value]
            else:
                saved[field.name] = value_to_data(value)
        return saved

    def setting_to_data(self, keyword: str, value: Any) -> Any:
        """Return the value of one setting as plain data for JSON."""
        entry = self.entries[keyword]
        if entry.slot is not None:
            return entry.slot.save(value)
        if "parts" in entry.field.metadata and value is not None:
            return save_part(value, {})
        return value_to_data(value)

    def load(self, saved: Mapping[str, Any], given: Mapping[str, Any], who: str) -> Root:
        """Return the settings from the plain data that `to_data` returned.

        given: the keywords of the call.  Functions, and objects whose settings are not saved, must be given again.
        who: whose settings they are, for messages.
        Raises TypeError or KeyError for data of another form, ValueError if the call lacks a function.
        """
        made: Root = self._load(self.root, saved, given, who)
        return made

    def _load(self, kind: type[Any], saved: Mapping[str, Any], given: Mapping[str, Any], who: str) -> Any:
        """Return an object of the class `kind` from its plain data; given, who: as in `load`."""
        check_keywords(kind.__qualname__, saved, [field.name for field in fields(kind)])
        values: dict[str, Any] = {}
        for field in fields(kind):
            if field.name not in saved:
                continue  # a setting that is newer than the data has its default
            value = saved[field.name]
            if "group" in field.metadata:
                values[field.name] = self._load(field.metadata["group"], value, given, who)
            elif "part" in field.metadata:
                values[field.name] = self.part_slot(field).load(value, given, who)
            elif "parts" in field.metadata:
                classes = {name: named for named, name in self.class_names(field).items()}
                objects = given.get(field.name, ())
                values[field.name] = tuple(
                    load_part(item, classes, None, objects, keyword=field.name, who=who) for item in value
                )
            elif isinstance(value, Mapping) and "function" in value:
                values[field.name] = named_function(
                    value["function"], [given.get(field.name)], keyword=field.name, who=who
                )
            else:
                values[field.name] = value_from_data(value)
        return make_settings(kind, **values)

    def changes(self, before: Root, after: Root) -> dict[str, tuple[Any, Any]]:
        """Return the old and the new value of each setting that differs, by keyword; a part counts as one value."""
        return {name: (was, now) for name, _, was, now in self._pairs(before, after) if was != now}

    def structural(self, before: Root, after: Root) -> list[str]:
        """Return the keywords of the settings that differ although a run must keep them."""
        pairs = self._pairs(before, after)
        return [name for name, field, was, now in pairs if was != now and must_keep(field, was, now)]

    def _pairs(self, before: Any, after: Any) -> Iterator[tuple[str, Field[Any], Any, Any]]:
        """Yield each setting's keyword, declaration, value before and value after.

        The value is None for an object of `parts` that the settings before or after do not have.
        """
        for field in fields(before):
            was, now = getattr(before, field.name), getattr(after, field.name)
            if "group" in field.metadata:
                yield from self._pairs(was, now)
            elif "parts" in field.metadata:
                names = self.class_names(field)
                # The keyword of an object whose class has no name is the field's.
                old = {names.get(type(item), field.name): item for item in was}
                new = {names.get(type(item), field.name): item for item in now}
                for name in old | new:
                    yield name, field, old.get(name), new.get(name)
            else:
                yield field.name, field, was, now


def judge_slot(name: str, kind: type) -> Slot:
    """Return the slot of an object of `parts`, such as a judge; name, kind: the name and the class of the object."""
    return Slot(name, {}, None, title=f"the {name}", kind=kind, prefix=f"{name}_", first=True, optional=True)


def slot_entries(slot: Slot) -> Iterator[SettingEntry]:
    """Yield the entries of the settings of a slot's parts."""
    for keyword, field_names in slot.owners.items():
        owner, name = next(iter(field_names.items()))  # the first class that has the setting declares it
        field = owner.__dataclass_fields__[name]  # type: ignore[attr-defined]
        all_have_it = len(field_names) == len(slot.classes)
        part_names = () if all_have_it else tuple(slot.classes[kind] for kind in field_names)
        default = getattr(slot.default, name, field.default)
        yield SettingEntry(keyword, slot.title, owner, field, default, kinds=part_names)


def merge_parts(
    slots: Mapping[str, Slot], name: str, before: Iterable[Any], given: Mapping[str, Any]
) -> tuple[Any, ...]:
    """Return the objects of a field of sort `parts`, such as judges, after a call.

    Objects of classes that have a keyword come first.  That keyword, and the keywords of their settings, change them.

    slots: the slots of these classes, by keyword.
    name: the field's name; it is the keyword that replaces all objects.
    before: the objects before the call.  given: the keywords of the call.
    """
    objects = given.get(name, before)
    if isinstance(objects, (str, Mapping)) or not isinstance(objects, Iterable):
        raise TypeError(f"{name} must be a sequence of objects, got {shown(objects)}")
    others = list(objects)
    merged = []
    for slot in slots.values():
        of_class = [item for item in others if type(item) in slot.classes]
        if len(of_class) > 1:
            raise ValueError(f"{name} must have one {qualified_name(type(of_class[0]))}, got {of_class!r}")
        others = [item for item in others if type(item) not in slot.classes]
        merged.append(slot.merge(of_class[0] if of_class else None, given))
    return tuple(item for item in [*merged, *others] if item is not None)


def must_keep(field: Field[Any], was: object, now: object) -> bool:
    """Return whether a run must keep a setting that a call would change from `was` to `now`.

    If both values are parts of one class, this depends on the settings of the part that differ.

    field: the setting's declaration.
    """
    if is_dataclass(was) and type(was) is type(now):
        structural = [inner.name for inner in fields(was) if inner.metadata.get("structural", False)]
        return any(getattr(was, name) != getattr(now, name) for name in structural)
    return bool(field.metadata["structural"])

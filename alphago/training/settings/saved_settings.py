"""Settings of a saved run: read them from the plain data that `to_data` returned, and compare them with a call's."""

from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass
from typing import Any

from alphago.system.settings import KIND, Kind, PartField, named_class, part_declaration, values_below
from alphago.system.validation import check_keywords, list_keywords, qualified_name, shown


def from_data(kind: type[Kind], data: Mapping[str, Any], given: Mapping[str, Any], who: str) -> Kind:
    """Return settings of the class `kind` from the plain data that `to_data` returned.

    Args:
        given: values that the caller gives, by path.  Functions are not in the data, nor are objects that are no
            dataclasses: the caller must give them again.
        who: whose settings they are, for messages, such as "this run".

    Raises:
        TypeError or KeyError: for data of another form.
        ValueError: if the call lacks a function.
    """
    check_keywords(kind.__qualname__, data, list_keywords(kind))
    values = {}
    for field in fields(kind):  # type: ignore[arg-type]
        name, declared = field.name, part_declaration(field)
        # Paths do not name a group, so any of them may be of the group.
        inner = given if declared is not None and declared.is_group else values_below(given, name)
        values[name] = value_from_data(data[name], declared, given.get(name), inner, keyword=name, who=who)
    return kind(**values)


def value_from_data(
    data: Any, declared: PartField | None, candidates: Any, given: Mapping[str, Any], *, keyword: str, who: str
) -> Any:
    """Return a setting's value from its plain data.

    Args:
        declared: the declaration of the part, if the setting is a part.
        candidates: the value, or several values, that the caller gives for this setting: functions and objects that the
            data can only name are looked for among them.
        given: the values that the caller gives for settings of the part, by path.
        keyword: the setting's name, for messages.
        who: whose setting it is, for messages.
    """
    # A part is an object, or None, but a group is never None.
    if declared is not None and not (isinstance(data, Mapping) or (data is None and not declared.is_group)):
        raise TypeError(f"{keyword} must be a JSON object, got {shown(data)}")
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
    name = data.get(KIND)  # None where there is one class only
    by_name: dict[Any, type] = {} if declared is None else {label: kind for kind, label in declared.names.items()}
    kind = declared.kind if declared is not None and name is None else by_name.get(name)
    if not is_dataclass(kind):  # None, for a class of the caller's own, or a class without settings
        own = [item for item in items if qualified_name(type(item)) == name]
        if own and not is_dataclass(own[0]):
            return own[0]  # only the caller can give it: its settings are not in the data
        kind = type(own[0]) if own else named_class(str(name), keyword, who)
    return from_data(kind, {key: value for key, value in data.items() if key != KIND}, given, who)


def changes(before: Any, after: Any, *, structural: bool = False) -> dict[str, tuple[Any, Any]]:
    """Return the old and the new value of each setting that differs, by the field's name.

    A part counts as one value; the settings of a group count one by one.

    Args:
        before, after: settings of one class.
        structural: whether to return only the settings that a resumed run must keep.
    """
    differences: dict[str, tuple[Any, Any]] = {}
    for field in fields(before):
        was, now = getattr(before, field.name), getattr(after, field.name)
        declared = part_declaration(field)
        if declared is not None and declared.is_group:
            differences |= changes(was, now, structural=structural)
        elif was != now and (not structural or must_keep(field, was, now)):
            differences[field.name] = was, now
    return differences


def must_keep(field: Field[Any], was: object, now: object) -> bool:
    """Return whether a resumed run must keep a setting that its caller would change from `was` to `now`.

    If both values are parts of one class, only the part's settings that differ decide.
    """
    if is_dataclass(was) and type(was) is type(now):
        structural = [inner.name for inner in fields(was) if inner.metadata.get("structural", False)]
        return any(getattr(was, name) != getattr(now, name) for name in structural)
    return bool(field.metadata["structural"])

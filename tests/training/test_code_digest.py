"""Which functions of a call were edited since."""

from alphago.training.code_digest import code_of, edited


def own() -> int:
    return 1


def test_only_what_changed_was_edited() -> None:
    now = code_of(own)
    python, name = now
    assert edited(now, now) == edited({python: ""}, now) == []
    assert edited({**now, name: "another digest"}, now) == [name]
    assert edited({name: "another digest"}, now) == [], "by another version of Python"

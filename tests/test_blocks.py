"""What tests make of a page's Python blocks."""

import pytest

from tests.blocks import find_blocks, run_block


def run(text: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    (block,) = find_blocks(text)
    return run_block(block, monkeypatch)


def test_keywords_are_replaced_and_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "<!-- test: dict(a=2, c=3), input('D4') -->\n\n```python\nx = dict(a=1, b=input())\n```\n"
    assert run(text, monkeypatch)["x"] == {"a": 2, "b": "D4", "c": 3}


def test_nothing_is_overlooked(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("<!-- test: f(a=1) -->\nText\n```python\nf(a=2)\n```\n", "- item\n  ```python\n  x = 1\n  ```\n"):
        with pytest.raises(ValueError, match="Python block"):
            find_blocks(text)
    with pytest.raises(ValueError, match="does not call it"):
        run("<!-- test: train(num_games=2) -->\n```python\nx = 1\n```\n", monkeypatch)

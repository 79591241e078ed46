"""What tests make of a page's Python blocks."""

import pytest

from tests.blocks import find_blocks, run_block


class TestMechanism:
    def run(self, text, monkeypatch):
        (block,) = find_blocks(text)
        return run_block(block, monkeypatch)

    def test_keywords_are_replaced_and_joined(self, monkeypatch):
        text = "<!-- test: dict(a=2, c=3) -->\n\n```python\nx = dict(a=1, b=1)\n```\n"
        assert self.run(text, monkeypatch)["x"] == {"a": 2, "b": 1, "c": 3}

    def test_typed_lines_then_the_end(self, monkeypatch):
        text = "<!-- test: input('D4', 'quit') -->\n```python\nx = [input(), input('> ')]\n```\n"
        assert self.run(text, monkeypatch)["x"] == ["D4", "quit"]
        with pytest.raises(EOFError):
            self.run("```python\ninput()\n```\n", monkeypatch)

    def test_a_comment_must_still_apply(self, monkeypatch):
        with pytest.raises(ValueError, match="does not call it"):
            self.run("<!-- test: train(num_games=2) -->\n```python\nx = 1\n```\n", monkeypatch)

    @pytest.mark.parametrize("comment", ["skip", "num_games=2", "1"])
    def test_a_comment_holds_calls_only(self, comment, monkeypatch):
        with pytest.raises((ValueError, SyntaxError)):
            self.run(f"<!-- test: {comment} -->\n```python\nx = 1\n```\n", monkeypatch)

    @pytest.mark.parametrize(
        "text", ["<!-- test: f(a=1) -->\nText\n```python\nf(a=2)\n```\n", "- item\n  ```python\n  x = 1\n  ```\n"]
    )
    def test_nothing_is_overlooked(self, text):
        with pytest.raises(ValueError, match="Python block"):
            find_blocks(text)

    def test_errors_point_into_the_page(self, monkeypatch):
        (block,) = find_blocks("1\n2\n```python\nx = 1\n1 / 0\n```\n")
        with pytest.raises(ZeroDivisionError) as error:
            run_block(block, monkeypatch)
        assert error.traceback[-1].lineno + 1 == 5

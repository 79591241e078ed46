"""Modules of the user's own, by file and by name."""

from pathlib import Path

import pytest

from alphago.system.own_modules import import_class, import_own_module
from alphago.system.validation import qualified_name


def test_a_file_may_have_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is no identifier of Python too: what other processes get is the class's name."""
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "my-9x9 game.py"
    path.write_text("class Mine:\n    class Inner:\n        pass\n")
    module = import_own_module(str(path))
    assert import_class(qualified_name(module.Mine.Inner)) is module.Mine.Inner

"""The notebooks in examples/ run from top to bottom, at small scale: constants are replaced, nothing else."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SMALL = {
    "tower_height_and_readouts": {"BOARD_SIZE": 3, "HEIGHTS": (0, 1), "READOUTS": (0, 2), "MINUTES": 0.01, "GAMES": 2}
}


def run(path: Path, constants: dict[str, Any]) -> dict[str, Any]:
    """Runs a notebook's code cells in one namespace, which it returns; every constant has to occur in it."""
    names: dict[str, Any] = {"__name__": "__main__"}
    left = set(constants)
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] != "code":
            continue
        code = "".join(cell["source"])
        for name, value in constants.items():
            code, changed = re.subn(rf"^{name} = [^#\n]*", f"{name} = {value!r}  ", code, flags=re.MULTILINE)
            left -= {name} if changed else set()
        exec(compile(code, str(path), "exec"), names)
    assert not left, f"{path.name} does not set {left}"
    return names


def test_all_are_known() -> None:
    assert {path.stem for path in (ROOT / "examples").glob("*.ipynb")} == set(SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_it_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = run(ROOT / "examples" / f"{name}.ipynb", SMALL[name])
    last = json.loads((ROOT / "examples" / f"{name}.ipynb").read_text())["cells"][-1]["source"][-1]
    assert eval(last, names)._repr_png_().startswith(b"\x89PNG")  # which a notebook shows


@pytest.mark.parametrize("name", SMALL)
def test_it_is_kept_without_outputs(name: str) -> None:
    for cell in json.loads((ROOT / "examples" / f"{name}.ipynb").read_text())["cells"]:
        assert cell["cell_type"] == "markdown" or (cell["outputs"], cell["execution_count"]) == ([], None)

"""The notebooks in examples/ run from top to bottom, at small scale: constants are replaced, nothing else."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SMALL = {
    "a_run_watched": {"LENGTH": {"max_minutes": None, "num_games": 3}, "OPPONENTS": ["random@0"], "SHARE": 0.3},
    "position_taken_apart": {"READOUTS": (0, 2, 8)},
    "tower_height_and_readouts": {"BOARD_SIZE": 3, "HEIGHTS": (0, 1), "READOUTS": (0, 2), "MINUTES": 0.01, "GAMES": 2},
    "your_own_game": {"GAMES": 2, "MATCH": 2},
}


def run(path: Path, constants: dict[str, Any]) -> dict[str, Any]:
    """Runs a notebook's code cells in one namespace, which it returns; every constant has to occur in it."""
    names: dict[str, Any] = {"__name__": "__main__"}
    left = set(constants)
    for cell in code_cells(path):
        code = re.sub(r"^( +)%pip .*", r"\1pass", "".join(cell["source"]), flags=re.MULTILINE)  # nothing is missing
        for name, value in constants.items():
            code, changed = re.subn(rf"^{name} = [^#\n]*", f"{name} = {value!r}  ", code, flags=re.MULTILINE)
            left -= {name} if changed else set()
        exec(compile(code, str(path), "exec"), names)
    assert not left, f"{path.name} does not set {left}"
    return names


def code_cells(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]


def test_all_are_known() -> None:
    assert {path.stem for path in (ROOT / "examples").glob("*.ipynb")} == set(SMALL)


@pytest.mark.docs
@pytest.mark.parametrize("name", SMALL)
def test_it_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = ROOT / "examples" / f"{name}.ipynb"
    shown = eval(code_cells(path)[-1]["source"][-1], run(path, SMALL[name]))
    if hasattr(shown, "_repr_svg_"):
        assert shown._repr_svg_().startswith("<svg")
    else:
        assert shown._repr_png_().startswith(b"\x89PNG")  # which a notebook shows


@pytest.mark.parametrize("name", SMALL)
def test_its_outputs(name: str) -> None:
    """All cells were run in their order and the pictures are there; nothing tells of the machine."""
    cells = code_cells(ROOT / "examples" / f"{name}.ipynb")
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    kinds = [kind for cell in cells for output in cell["outputs"] for kind in output.get("data", {})]
    assert kinds.count("image/svg+xml") >= 3
    assert not re.search(r"/(?:tmp|home|root|work)/", json.dumps([cell["outputs"] for cell in cells]))

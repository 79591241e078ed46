"""Run notebooks of examples/ from top to bottom and keep their outputs in them.

    python docs/run_notebooks.py position_taken_apart your_own_game
    python docs/run_notebooks.py tower_height_and_readouts    # half an hour

It needs IPython (which comes with the extra `notebook`), no Jupyter: the cells run in this process, in a temporary
folder, and what they print and show is written as a notebook server would.
"""

import argparse
import base64
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

FOLDER = Path(__file__).parents[1] / "examples"
KEPT = ("image/svg+xml", "image/png", "text/plain", "text/html")  # kinds of data that are kept


class Publisher(DisplayPublisher):
    """Keeps what is displayed; a display that is updated keeps its place."""

    outputs: list[dict[str, Any]] = []
    handles: dict[str, dict[str, Any]] = {}

    def publish(self, data: Any, metadata: Any = None, **options: Any) -> None:
        handle = (options.get("transient") or {}).get("display_id")
        output = {"output_type": "display_data", "data": kept(data), "metadata": {}}
        if options.get("update") and handle in self.handles:
            self.handles[handle]["data"] = output["data"]
            return
        self.outputs.append(output)
        if handle:
            self.handles[handle] = output


class Hook(DisplayHook):
    """Keeps the value of a cell."""

    def write_output_prompt(self) -> None:
        """Write no prompt."""

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        output = {"output_type": "execute_result", "execution_count": self.prompt_count, "metadata": {}}
        self.shell.display_pub.outputs.append({**output, "data": kept(format_dict)})

    def finish_displayhook(self) -> None:
        """Print nothing."""


class NotebookShell(InteractiveShell):
    """IPython without a terminal; its `kernel` says that pictures are shown."""

    kernel = object()
    display_pub_class = Publisher
    displayhook_class = Hook


def kept(data: dict[str, Any]) -> dict[str, Any]:
    """Return data as notebooks hold it: texts as lists of lines."""
    return {kind: as_lines(data[kind]) for kind in KEPT if kind in data}


def as_lines(value: Any) -> Any:
    """Return a text as its lines, and bytes as text."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.splitlines(keepends=True) if "\n" in value else value


def run(path: Path) -> None:
    """Run a notebook's cells and write it with their outputs; a cell that fails ends the program."""
    notebook = json.loads(path.read_text("utf-8"))
    shell = NotebookShell.instance()
    shell.reset()
    count = 0
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                continue
            count += 1
            shell.display_pub.outputs, printed = [], io.StringIO()
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
                result = shell.run_cell("".join(cell["source"]), store_history=True)
            result.raise_error()
            texts = [{"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(keepends=True)}]
            cell["outputs"] = (texts if printed.getvalue() else []) + shell.display_pub.outputs
            cell["execution_count"] = count
            for output in cell["outputs"]:
                if "execution_count" in output:
                    output["execution_count"] = count
            print(f"{path.name}: cell {count}, {len(cell['outputs'])} outputs", file=sys.stderr)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=[path.stem for path in sorted(FOLDER.glob("*.ipynb"))])
    os.environ.setdefault("MPLBACKEND", "agg")
    for name in parser.parse_args().names:
        run(FOLDER / f"{name}.ipynb")


if __name__ == "__main__":
    main()

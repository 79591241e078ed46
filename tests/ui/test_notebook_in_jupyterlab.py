"""The board and the curves in JupyterLab itself: a notebook is opened, run, and played on with clicks.

LAB_ARGUMENTS: further arguments of JupyterLab's command, where it is installed in an unusual place.
"""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.ui.web.browser import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.browser]
ROOT = Path(__file__).parents[2]
CELLS = (
    "from alphago import GoEnv, load_model, play, train\nnet = load_model('7x7')",
    "play(net.env, net, num_readouts=16)",
    "train(GoEnv(3, komi=0.5), num_games=12, readouts=4, tower_height=0, channels=8, start_training_after=20, "
    "folder='run');",
    "net.env.position().play('D4')",
)

# JupyterLab shows SVG as an image whose address is the text.
IMAGES = "[...document.querySelectorAll('.jp-OutputArea img')]"
SHOWN = f"text => {IMAGES}.some(image => decodeURIComponent(image.src).includes(text))"


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of a notebook with CELLS in a JupyterLab of its own."""
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed: pip install jupyterlab ipykernel")
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    cells = [
        {"cell_type": "code", "id": f"c{i}", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
        for i, source in enumerate(CELLS)
    ]
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "game.ipynb").write_text(json.dumps(notebook))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token, extensions = secrets.token_hex(16), Path(sys.prefix) / "share" / "jupyter" / "labextensions"
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += [f"--IdentityProvider.token={token}", f"--LabApp.extra_labextensions_path={extensions}"]
    command += os.environ.get("LAB_ARGUMENTS", "").split()
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    server = subprocess.Popen(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path})
    try:
        end = time.monotonic() + 120
        while not answers(port):
            assert server.poll() is None, "JupyterLab has ended"
            assert time.monotonic() < end, "JupyterLab does not start"
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/lab/tree/game.ipynb?token={token}"
    finally:
        server.terminate()
        server.wait(60)


def test_a_board_and_curves_in_jupyterlab(chromium: Any, address: str) -> None:
    page = chromium.new_page(viewport={"width": 1300, "height": 2200})
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.locator('[data-point="D4"]').click()
    page.wait_for_function("document.querySelectorAll('.ag-piece').length >= 2")  # the engine has answered
    assert page.locator(".ag-board").count() == 1  # the value of the cell is not a second board
    for text in ("finished after 12 games", "move 1: White to play"):  # curves of `train`, a position's picture
        page.wait_for_function(SHOWN, arg=text)
    page.close()

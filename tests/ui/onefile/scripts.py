"""The modules of a file, asked by Node.js; Python's answers."""

import base64
import json
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from alphago import GameEnv
from alphago.ui.onefile import page
from alphago.ui.onefile.page import FOLDERS, OWN_STATIC
from tests.ui.clients.installed import node

HERE = Path(__file__).parent


def ask(what: str, **question: Any) -> Any:
    """The modules' answer to a question of ask.mjs; the test is skipped where Node.js is not installed."""
    text = json.dumps({"what": what, **question})
    with TemporaryDirectory() as folder:
        for path in (path for static in FOLDERS for path in static.glob("*.js")):  # as Node.js reads them
            Path(folder, f"{path.stem}.mjs").write_text(path.read_text().replace('.js";', '.mjs";'))
        for module in OWN_STATIC.glob("*.wasm"):
            shutil.copy(module, folder)
        command = [node(), HERE / "ask.mjs", folder]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def packed(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array, np.float32).tobytes()).decode()


def numbers(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), np.float32)


def options_of(env: GameEnv, handicap: tuple[int, ...] = ()) -> dict[str, Any]:
    """A game as the modules are told of it."""
    stones = {"handicap": list(handicap)} if handicap else {}
    return {**page.page_options(env), **stones}


def inputs(env: GameEnv) -> int:
    return env.planes * env.plane_shape[0] * env.plane_shape[1]

"""The file of a network: its parts, their compiled modules, its size, what it tells, and what it cannot carry."""

import json
import re
import runpy
import shutil
import subprocess
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alphago import GoEnv, GomokuEnv, NeuralNet, OwareEnv, export_page, load_model
from alphago.env.games import GAMES
from alphago.env.packaged_nets import packaged_nets
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.nn.export import manifest, network_graph
from alphago.nn.graph import Step
from alphago.ui.onefile.page import FOLDERS, OPERATIONS, OWN_STATIC, about, check_step, facts, render_page
from alphago.ui.web.page_files import WIDGET, bundle, without_comments
from alphago.ui.web.views import game_view
from tests.ui.clients.installed import client, node
from tests.ui.onefile.scripts import ask, numbers

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, str, dict[str, bytes]]:
    """The packaged network of 9x9 as a file: the answer, the text, and the parts."""
    page = export_page("9x9", tmp_path_factory.mktemp("page") / "go.html")
    text = page.path.read_text()
    found = dict(re.findall(r'<script type="text/plain" id="(\w+)">([\w+/=]*)</script>', text))
    return page, text, {name: zlib.decompress(b64decode(part)) for name, part in found.items()}


def test_a_file_is_small_and_whole(written: Any) -> None:
    page, text, parts = written
    assert page.bytes == len(text.encode()) < 1_000_000
    assert list(parts) == ["facts", "weights", "kernels", "tree", "rules", "worker", "script"]
    assert not re.search(r"https?://(?!www\.w3\.org/)", text)
    assert not re.search(r"<(?:link|script|img)[^>]*(?:src|href)=(?!\"data:)", text)
    assert "{{" not in text
    assert "MIT License" in text


PAGES = (ROOT / "docs" / "export.md").read_text("utf-8")
SIZES = re.findall(r"^\| `([\w-]+)` \| (\d+) x (\d+) \| ([\d ]+) \|$", PAGES, re.MULTILINE)


def test_the_documents_name_every_network_and_the_size_of_its_page(written: Any) -> None:
    """A table said 898 000 of a page of 908 404 bytes."""
    assert {name for name, *_ in SIZES} == {*packaged_nets()} - {"9x9-large"}  # one of a GPU
    (quoted,) = re.findall(r"# go\.html: ([\d,]+) bytes", PAGES)
    assert int(quoted.replace(",", "")) == pytest.approx(written[0].bytes, rel=0.02)


@pytest.mark.parametrize(("name", "height", "channels", "told"), SIZES, ids=[name for name, *_ in SIZES])
def test_a_page_has_the_size_that_is_told(name: str, height: str, channels: str, told: str, tmp_path: Path) -> None:
    config = load_model(name).config
    assert (config["tower_height"], config["channels"]) == (int(height), int(channels))
    assert int(told.replace(" ", "")) == pytest.approx(export_page(name, tmp_path / "a.html").bytes, rel=0.02)


def test_it_tells_where_the_network_comes_from(written: Any) -> None:
    told = json.loads(written[2]["facts"])
    lines = told["about"]["facts"]
    assert (told["network"], told["game"], told["about"]["title"]) == ("9x9", "go", "9x9")
    assert {"Network", "Games that trained it", "Strength", "Licence", "Made with"} <= lines.keys()
    assert "GNU Go" in lines["Strength"]
    # The komi is that of the page, not of training, and the threshold was measured on no other board.
    assert [(board["options"]["komi"], board["resign"]) for board in told["boards"][:2]] == [(7.5, -0.76), (7.5, -1)]
    renamed: Any = about(NeuralNet(GoEnv(5), tower_height=1, channels=4), "Mine", "9x9", None, None)
    assert renamed["title"] == "Mine"
    assert "<title>Go: {{game}}</title>" in render_page("7x7", name="{{game}}")
    assert renamed["facts"]["Strength"] == lines["Strength"]


def test_what_is_told_of_packaged_networks_was_measured() -> None:
    measured = {row["id"]: row for row in json.loads((ROOT / "docs" / "results" / "strength.json").read_text())}
    for name, text in json.loads((ROOT / "alphago" / "nets" / "measured.json").read_text()).items():
        row = measured[f"{name}-packaged-64"]
        numbers = [row["readouts"], row["wins"], row["draws"], row["losses"], row["games"]]
        assert [int(number) for number in re.findall(r"\d+", text.partition(" against ")[0])] == numbers
        assert text.endswith(row["opponent"])


def test_a_size_free_network_has_every_board() -> None:
    net = NeuralNet(GoEnv(5), tower_height=1, channels=8, size_free=True)
    told = facts(net, manifest(network_graph(net), net, {"layers": []}), "mine")
    boards = {board["options"]["board_size"]: board for board in told["boards"]}  # type: ignore[attr-defined]
    assert next(iter(boards)) == 5
    assert sorted(boards) == list(range(2, 26))
    assert boards[9]["view"].items() >= game_view(GoEnv(9).match_variant()).items()
    assert len(boards[19]["handicaps"]["9"]) == 9
    assert boards[19]["options"]["max_moves"] == GoEnv(19).match_variant().max_moves


@pytest.mark.parametrize("env", [OwareEnv(), GomokuEnv(7), GoEnv(5)], ids=lambda env: env.name)
def test_other_networks(env: Any, tmp_path: Path) -> None:
    """A transformer is exported for one size of the board."""
    options = {"base_net": "transformer"} if env.name == "go" else {"size_free": False}
    net = NeuralNet(env, tower_height=1, channels=8, **options)
    page = export_page(net, tmp_path / "mine.html", type(env)(**env.config), strength="beats me", licence="CC0")
    text = page.path.read_text()
    told = json.loads(zlib.decompress(b64decode(re.findall(r'id="facts">([^<]*)<', text)[0])))
    assert told["about"]["facts"].items() >= {"Strength": "beats me", "Licence": "CC0"}.items()
    assert told["network"] == env.name
    assert len(told["boards"]) == 1
    assert "board_size" not in [option["name"] for option in told["boards"][0]["view"]["options"]]


def test_what_it_cannot_carry_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also a game that --game has registered."""
    net = NeuralNet(TicTacToeEnv(), tower_height=1, channels=4)
    monkeypatch.setitem(GAMES, "tic-tac-toe", TicTacToeEnv)
    with pytest.raises(ValueError, match=r"a page can have the games go, .*oware, got TicTacToeEnv"):
        export_page(net, tmp_path / "no.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("Softplus", {}),
        ("Conv", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "dilations": [1, 1], "group": 2}),
        ("Conv", {"kernel_shape": [3, 3], "pads": [0, 0, 0, 0], "dilations": [1, 1], "group": 1}),
        ("Conv", {"kernel_shape": [1, 3], "pads": [0, 1, 0, 1], "dilations": [1, 1], "group": 1}),
    ],
)
def test_layers_that_it_cannot_compute_are_refused(op: str, attributes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"a page cannot compute the network's operation {op}"):
        check_step(Step(op, ["x"], "y", attributes))


def test_the_script_has_every_operation() -> None:
    text = (OWN_STATIC / "network.js").read_text()
    first, *table = text[text.index("const ELEMENTWISE") :].splitlines()
    assert {*re.findall(r'\w+(?=")', first), *re.findall(r"^  (\w+):", "\n".join(table), re.MULTILINE)} == OPERATIONS


@pytest.mark.parametrize("name", ["file_page", "engine_worker", "page", "widget"])
def test_scripts_are_whole(name: str, tmp_path: Path) -> None:
    """A notebook's exports what a notebook calls."""
    script = tmp_path / "script.mjs"
    script.write_text(without_comments(bundle(name, (*FOLDERS, WIDGET))))
    left = re.findall(r"^\s*(?:import|export) \S+", script.read_text(), re.MULTILINE)
    assert left == (["export default"] if name == "widget" else [])
    subprocess.run([node(), "--check", script], check=True)


CHECKS = ("--noEmit", "--allowJs", "--checkJs", "--strict", "--noUnusedLocals", "--target", "es2022")
CHECKS += ("--module", "es2022", "--moduleResolution", "bundler", "--lib", "es2022,dom,dom.iterable")


def test_the_types_of_the_scripts(tmp_path: Path) -> None:
    """Of page, notebook and file, by TypeScript's checker, which reads them in the comments."""
    node()
    tsc = shutil.which("tsc") or client("TypeScript", "node_modules", ".bin", "tsc")
    together = tmp_path / "static"
    together.mkdir()
    for path in (path for folder in (*FOLDERS, WIDGET) for path in folder.glob("*.js")):
        shutil.copy(path, together)
    files = [shutil.copy(FOLDERS[0].parent / "wire.js", tmp_path), *sorted(together.iterdir())]
    told = subprocess.run([tsc, *CHECKS, *files], capture_output=True, text=True, check=False)
    assert (told.stdout, told.returncode) == ("", 0)


def test_comments_go_and_strings_stay() -> None:
    text = "/**\n * Words.\n */\nconst a = '// no comment'; // stays\n  // goes\n  f(`x`);\n * goes"
    assert without_comments(text) == "const a = '// no comment'; // stays\nf(`x`);"


def test_weights_are_unpacked_as_they_were() -> None:
    values = np.array([0, 1, -1, 0.333, 6e-8, -65504, 1e-5, 2048.5], np.float16)
    data = values.view(np.uint8).reshape(-1, 2).T.tobytes()
    assert np.array_equal(numbers(ask("weights", bytes=list(data))), values.astype(np.float32))


SCRIPT = runpy.run_path(str(ROOT / ".ci" / "compile_wasm.py"))
MODULES: dict[str, Any] = SCRIPT["modules"]()


def test_every_game_has_its_module() -> None:
    assert {path.stem for path in OWN_STATIC.glob("*.wasm")} == MODULES.keys() >= GAMES.keys()


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_of_its_source(name: str) -> None:
    """The digest at its end is that of the source, on every machine."""
    kept = (OWN_STATIC / f"{name}.wasm").read_bytes()
    assert kept.endswith(MODULES[name].section), "run python .ci/compile_wasm.py"


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_compiled_alike_again(name: str) -> None:
    for program in ("clang", "wasm-ld"):
        if shutil.which(program) is None:
            pytest.skip("clang and lld are not installed: apt-get install --no-install-recommends clang lld")
        told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        if SCRIPT["VERSION"] not in told:
            pytest.skip(f"other versions write other code: {SCRIPT['VERSION']} is wanted, got {told.splitlines()[0]}")
    assert MODULES[name].compile() == (OWN_STATIC / f"{name}.wasm").read_bytes()

"""Write a network as one HTML file that plays in any browser, without a server: `export_page`.

The file has the page of `alphago web` in JavaScript, the game's rules, search tree and the network's arithmetic in
WebAssembly, and the weights as float16 numbers. These parts are deflated, and written in base64.
"""

import base64
import html
import json
import math
import re
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import alphago
from alphago.env import go_rules
from alphago.env.game import GameEnv
from alphago.env.games import GAMES, is_go
from alphago.env.go_batch import GoStart
from alphago.env.go_cuda import ladder_words
from alphago.env.kernels import go_row as layout
from alphago.env.packaged_nets import NETWORKS, packaged_nets, usual_game
from alphago.mcts.evaluator import as_network
from alphago.mcts.levels import FULL_STRENGTH, describe_level, level_conditions, level_table, measured_network
from alphago.mcts.player import USUAL_LEAVES
from alphago.mcts.puct import Puct
from alphago.mcts.rule import measured_threshold
from alphago.nn.export import fits_any_board, network_graph, raw_files
from alphago.nn.graph import Step
from alphago.nn.model_files import model_file, saved_game
from alphago.nn.net import NeuralNet
from alphago.system.files import user_path, write_atomic
from alphago.system.validation import checks_keywords, shown
from alphago.ui.web.page_files import STATIC, bundle, without_comments
from alphago.ui.web.views import game_view

OWN_STATIC = Path(__file__).parent / "static"
FOLDERS = (STATIC, OWN_STATIC)
STYLES = ("board", "column", "page")
OPERATIONS = {  # the operations that network.js computes
    *("Conv", "Gemm", "MatMul", "Add", "Sub", "Mul", "Div", "Relu", "Elu", "Tanh", "Sigmoid", "Sqrt", "Softmax"),
    *("ReduceMean", "ReduceMax", "Concat", "Flatten", "Reshape", "Transpose", "Slice", "Shape", "Cast"),
}


class PageFile(NamedTuple):
    """A file that plays a network.

    Attributes:
        path: the file.
        bytes: its size.
    """

    path: Path
    bytes: int

    def __repr__(self) -> str:
        return f"{self.path}: {self.bytes:,} bytes; open it in a browser"


@checks_keywords()
def export_page(
    net: NeuralNet | str | PathLike[str],
    path: str | PathLike[str],
    env: GameEnv | None = None,
    *,
    name: str | None = None,
    strength: str | None = None,
    licence: str | None = None,
) -> PageFile:
    """Write a network, its game and the search as one HTML file that plays in a browser.

    A size-free network plays on every board that the game has, unless it has rotations (`alphago.nn.transformer`).

    Args:
        net: the network, or its name, file or run folder.
        path: the file to write, such as "go.html".
        env: the game with which the page begins; None for the network's.
        name: the network's name on the page; None for the name of its file or folder, or of its game.
        strength: a sentence on the network's measured strength; None for what is known of a packaged network, or "not
            measured".
        licence: the network's licence; None for the package's licence of a packaged network, or "not stated".

    Raises:
        ValueError: for a game that is not the package's, and for a network with layers that the file cannot compute.
        OSError: if the file cannot be written.
    """
    path = user_path(path)
    data = render_page(net, env, name, strength=strength, licence=licence).encode()
    write_atomic(path, data)
    return PageFile(path, len(data))


def render_page(
    source: NeuralNet | str | PathLike[str], env: GameEnv | None = None, name: str | None = None, **texts: str | None
) -> str:
    """Return the HTML text of a file; it raises the errors of `export_page`.

    Args:
        source: the network, or its name, file or run folder.
        env: the game with which the page begins; None for the network's.
        name: the network's name on the page; None for the name of its file or folder, or of its game.
        texts: `strength` and `licence`, see `export_page`.
    """
    # The name of a packaged network, unless a file or folder has this name too.
    packaged = str(source) if str(source) in packaged_nets() and not user_path(str(source)).exists() else None
    if packaged is not None and env is None:
        env = usual_game(saved_game(model_file(packaged)))  # it was saved with the komi of self-play
    net = as_network(source, env)
    if not isinstance(net, NeuralNet):
        raise ValueError(f"a page needs a NeuralNet, or the name of one, got {shown(source)}")
    if env is not None and env is not net.env:  # a NeuralNet that was given as an object comes with a game of its own
        net = net.resized(env)
    name = name or (net.env.name if isinstance(source, NeuralNet) else Path(str(source)).resolve().stem)
    return page_text(net, name, about(net, name, packaged, **texts))


def page_text(net: NeuralNet, name: str, description: Mapping[str, object]) -> str:
    """Return the HTML text of the file.

    Args:
        name: the network's name on the page.
        description: what the page says of the network, see `about`.
    """
    packaged_games = [game for game, kind in GAMES.items() if kind.__module__.startswith("alphago.env.")]
    # A game of the user's own may have the name of a packaged one.
    if net.env.name not in packaged_games or GAMES[net.env.name] is not type(net.env):
        raise ValueError(f"a page can have the games {', '.join(packaged_games)}, got {shown(net.env)}")
    parts = pack_parts(net, name, description).items()
    replacements = {
        "title": html.escape(f"{net.env.title}: {name}"),
        "licence": (OWN_STATIC / "licence.txt").read_text("utf-8"),
        "styles": "\n".join((STATIC / f"{style}.css").read_text("utf-8") for style in STYLES),
        "packed": "\n".join(f'<script type="text/plain" id="{part}">{packed}</script>' for part, packed in parts),
        "game": net.env.name,
        # Pasted into a script of the page, from which nothing is imported.
        "unpacking": (OWN_STATIC / "unpacking.js").read_text("utf-8").replace("export ", ""),
    }
    text = (OWN_STATIC / "file.html").read_text("utf-8")
    # At once, so that a placeholder in a replacement, as in the network's name, stays.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: replacements[found[1]], text)


def pack_parts(net: NeuralNet, name: str, description: Mapping[str, object]) -> dict[str, str]:
    """Return the parts of the file by name, each deflated and in base64, as `unpacked` in unpacking.js reads them.

    Args:
        name: the network's name on the page.
        description: what the page says of the network, see `about`.
    """
    graph = network_graph(net)
    for step in graph.steps:
        check_step(step)
    # The bytes of float16 numbers, and their manifest.  No file is written: `raw_files` returns the contents of files.
    weights, manifest = raw_files(graph, net, Path("weights"), "w16").values()
    # uint8 [2, weights]: all low bytes, then all high bytes, which can be compressed better.
    low_and_high_bytes = np.frombuffer(weights, np.uint8).reshape(-1, 2).T
    told = {**facts(net, json.loads(manifest), name), "about": description}
    parts = {
        "facts": json.dumps(told, separators=(",", ":")).encode(),
        "weights": low_and_high_bytes.tobytes(),
        "kernels": (OWN_STATIC / "kernels.wasm").read_bytes(),
        "tree": (OWN_STATIC / "tree.wasm").read_bytes(),
        "rules": (OWN_STATIC / f"{net.env.name}.wasm").read_bytes(),
        "worker": without_comments(bundle("engine_worker", FOLDERS)).encode(),
        "script": without_comments(bundle("file_page", FOLDERS)).encode(),
    }
    return {part: base64.b64encode(zlib.compress(data, 9)).decode() for part, data in parts.items()}


def check_step(step: Step) -> None:
    """Raise ValueError for an operation of a network that network.js does not compute.

    Of convolutions, network.js computes only those with square kernels of odd size and outputs as large as inputs.
    """
    options: dict[str, Any] = step.attributes
    kernel = options.get("kernel_shape", [1])  # the default is for operations without a kernel
    is_odd_square = len(set(kernel)) == 1 and kernel[0] % 2 == 1
    pads_that_keep_size = [(side - 1) // 2 for side in [*kernel, *kernel]]
    supported = {"pads": pads_that_keep_size, "group": 1, "dilations": [1, 1], "strides": [1, 1]}
    has_supported_options = all(options.get(name, value) == value for name, value in supported.items())
    if step.op in OPERATIONS and is_odd_square and has_supported_options:
        return
    described = f"{step.op} with {options}" if step.op in OPERATIONS else step.op
    raise ValueError(f"a page cannot compute the network's operation {described}; other formats of export can")


def facts(net: NeuralNet, manifest: Mapping[str, Any], name: str) -> dict[str, object]:
    """Return what the page has to know: the game on each board, and for the workers the network and the search.

    Args:
        manifest: of the network's weights, see `alphago.nn.export.manifest`.
        name: the network's name on the page.
    """
    env = net.env.match_variant()  # as it is played in matches, without options of self-play
    model = {
        "game": env.name,
        "manifest": {key: manifest[key] for key in ("layers", "constants", "steps", "outputs")},
        "settings": asdict(Puct(leaves=USUAL_LEAVES, decisive_moves=env.has_decisive_moves)),
        "planes": env.planes,
        "pass": env.pass_action,
    }
    has_scores = "score" in manifest["outputs"]
    boards = [board_facts(board, net, has_scores) for board in playable_boards(net, env)]
    return {"network": name, "game": env.name, "boards": boards, "rules": named_rules(env), "model": model}


def named_rules(env: GameEnv) -> dict[str, dict[str, Any]]:
    """Return what each word of the game's option `rules` stands for: values of the constructor's options, by name.

    Under each word are the same options: all that at least one of the words changes.  Returns {} for a game without the
    option `rules`.
    """
    words = next((option.choices for option in env.options if option.name == "rules"), ())
    configs = {word: env.choose(rules=word).config for word in words}
    changed = {name for config in configs.values() for name, value in config.items() if value != env.config[name]}
    return {word: {name: config[name] for name in sorted(changed)} for word, config in configs.items()}


def handicap_points(env: GameEnv) -> dict[str, list[int]]:
    """Return the points of Black's handicap stones, as actions, by the number of stones ("2", "3" and so on)."""
    most = go_rules.most_handicap(env.N) if is_go(env) else 0
    return {str(count): sorted(go_rules.handicap_points(env.N, count)) for count in range(2, most + 1)}


def playable_boards(net: NeuralNet, env: GameEnv) -> list[GameEnv]:
    """Return the game on each board that the network can play, its own first.

    Args:
        env: the network's game as it is played in matches, a `match_variant` like the returned games on other boards.
    """
    option = next((option for option in env.options if option.name == "board_size"), None)
    boards = [env]
    if fits_any_board(net) and option is not None:
        for size in range(int(option.least or 1), int(option.most or env.N) + 1, int(option.step)):
            if size != env.N:
                with suppress(ValueError):  # some options of the game do not fit this board
                    boards.append(env.choose(board_size=size).match_variant())
    return boards


def board_facts(env: GameEnv, net: NeuralNet, has_scores: bool) -> dict[str, Any]:
    """Return what the page has to know of a game on one board.

    Args:
        net: the network; if its operations fit any board, the size can be chosen.
        has_scores: whether the network forecasts scores.
    """
    measured = measured_network(net, env)  # the network with which the levels were measured; "" if they were not
    level_texts = [describe_level(level, env, has_scores, measured) for level in range(1, FULL_STRENGTH + 1)]
    view = {**game_view(env), "levels": level_texts, "shape": env.plane_shape}
    if not fits_any_board(net):
        view["options"] = [option for option in view["options"] if option["name"] != "board_size"]
    return {
        "view": view,
        "options": page_options(env),
        "handicaps": handicap_points(env),
        # The numbers by which the engine plays; in the view are the texts that a person reads.
        "levels": [level_facts(level, env, has_scores, measured) for level in range(1, FULL_STRENGTH + 1)],
        "resign": measured_threshold(net, env.position()),
    }


def page_options(env: GameEnv) -> dict[str, Any]:
    """Return a game's options as rules.js reads them: those of `config`, the move limit, and in Go what planes need.

    "kept": how many boards a row keeps, and how many actions older than the third last.  "places": the index of each
    rule plane (`alphago.env.kernels.go_planes`) in the network's set of planes; None for other planes.  "ladders": the
    memory for KataGo's planes, see `ladder_words`; None for other planes.
    """
    options = {**env.config, "max_moves": env.max_moves}
    if not is_go(env):
        return options
    start: GoStart = env.start  # type: ignore[attr-defined]
    kept = [int(start.row[word]) for word in (layout.DEPTH, layout.FURTHER_LAST_MOVES)]
    places = None if start.plane_indices is None else start.plane_indices.tolist()
    ladders = None if start.ladder_board is None else ladder_words(start)
    return {**options, "kept": kept, "places": places, "ladders": ladders}


def level_facts(level: int, env: GameEnv, has_scores: bool, measured: str) -> dict[str, Any]:
    """Return how the engine plays at a level, and under "lost" how much a move at this level loses on the average.

    "lost" is None if it was not measured.

    Args:
        has_scores: whether the network forecasts scores.
        measured: the network with which the levels were measured, see `measured_network`; "" if they were not.
    """
    # Without a measured network the table is not asked: it would give the packaged network's losses, not this one's.
    lost = level_table(env, has_scores, measured).interpolate(level, "lost") if measured else math.nan
    return {**level_conditions(level, env, has_scores)._asdict(), "lost": None if math.isnan(lost) else lost}


def about(
    net: NeuralNet, name: str, packaged: str | None, strength: str | None = None, licence: str | None = None
) -> dict[str, object]:
    """Return what the page says of the network.

    Args:
        name, strength, licence: see `export_page`.
        packaged: the network's name if it is a packaged one, else None.  A packaged network has a licence and
            measurements, which are used unless others are given.
    """
    measured = json.loads((NETWORKS / "measured.json").read_text("utf-8")).get(packaged)
    rows = {
        "Network": str(net),
        "Input": f"{net.env.planes} planes",
        "Games that trained it": net.notes.get("games"),
        "Taught by": net.notes.get("taught_by"),
        "Strength": strength or measured or "not measured",
        "Licence": licence or ("the package's, MIT" if packaged else "not stated"),
        "Made with": f"alphago {alphago.__version__}",
    }
    return {"title": name, "facts": {key: text for key, text in rows.items() if text}}

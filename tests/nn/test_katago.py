"""KataGo's networks compute here what they compute in KataGo; files that hold none are refused with a sentence.

`katago_golden.json` has KataGo 1.17's own float32 outputs for `network(version, version)` of `tests.nn.katago_files` in
one position of 5x5.  Version 15 has a norm of the whole board at its tip, 17 one of each point.
"""

import contextlib
import gzip
import io
import json
import os
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from alphago.env.go import GoEnv
from alphago.env.gomoku import GomokuEnv
from alphago.mcts.levels import measured_network
from alphago.mcts.player import MCTSPlayer
from alphago.nn import model_files
from alphago.nn.export import export_model
from alphago.nn.katago.conversion import LEAD_FACTOR, NUMBERS_USED, SPATIAL_USED
from alphago.nn.katago.stream import KataGoFile
from alphago.nn.model_files import ModelError
from alphago.nn.net import NeuralNet, load_model
from tests.nn.boards import assert_reads_alike, needs_openvino
from tests.nn.katago_files import network, plain_network

GOLDEN = json.loads((Path(__file__).parent / "katago_golden.json").read_text())
VERSIONS = range(8, 18)
ENV = GoEnv(5, komi=6.5, ko="situational", suicide=True, planes="katago")


def file_of(folder: Path, data: bytes, name: str = "net.bin.gz") -> str:
    path = folder / name
    path.write_bytes(data)
    return f"katago:{path}"


def golden_planes() -> torch.Tensor:
    planes = np.zeros((1, 30, 5, 5), np.float32)
    planes[0, :18] = np.array([list(map(int, text)) for text in GOLDEN["spatial"]]).reshape(22, 5, 5)[SPATIAL_USED]
    planes[0, 18:29] = np.array(GOLDEN["numbers"])[NUMBERS_USED, None, None]
    return torch.from_numpy(planes)


def assert_golden(net: NeuralNet, expected: dict[str, Any], lead_factor: float) -> None:
    with torch.no_grad():
        logits, value, forecast = net.forecast(golden_planes())
    np.testing.assert_allclose(logits[0], expected["policy"], atol=1e-4)
    win, loss, _ = expected["value"]
    assert float(value) == pytest.approx(np.tanh((win - loss) / 2), abs=1e-5)
    assert 10 * float(forecast.score) == pytest.approx(lead_factor * expected["lead"], abs=1e-4)
    np.testing.assert_allclose(forecast.ownership[0], np.tanh(expected["ownership"]), atol=1e-5)


@pytest.mark.parametrize("version", VERSIONS)
def test_outputs_are_those_of_katago(tmp_path, version):
    net = load_model(file_of(tmp_path, network(version, version)), ENV)
    lead_factor = 15 if version >= 13 else LEAD_FACTOR  # that of the writer
    assert_golden(net, GOLDEN["networks"][str(version)], lead_factor)


def test_positions_of_the_game_have_katagos_planes():
    position = ENV.position()
    for _, *point in GOLDEN["moves"]:
        position = position.play(25 if point == [None] else point[1] * 5 + point[0])
    planes = position.batch.planes(np.zeros(1, np.int64), np.empty((1, 30, 5, 5), np.float32))
    np.testing.assert_allclose(planes, golden_planes(), atol=1e-6)


@needs_openvino
@pytest.mark.parametrize("version", [8, 13, 17])
def test_saved_resized_compiled_and_exported(tmp_path, version):
    net = load_model(file_of(tmp_path, network(version)), GoEnv(6))
    assert net.env == GoEnv(6, planes="katago")
    assert "KataGo" in net.taught_by
    net.save(tmp_path / "saved")
    loaded = load_model(tmp_path / "saved")
    assert loaded.taught_by == net.taught_by
    assert_reads_alike(loaded, net, net.env.position().play("C3"))
    assert net.evaluator("float32").form == net.resized(ENV).evaluator("float32").form == "openvino"
    assert max(export_model(net, tmp_path / "net.w32", positions=20).differences.values()) < 1e-4
    MCTSPlayer(net.env, net, 8).suggest_move()


def test_text_without_a_game_and_by_package(tmp_path, monkeypatch):
    plain = load_model(file_of(tmp_path, network(8, text=True), "net.txt.gz"))
    binary = load_model(file_of(tmp_path, network(8)))
    assert plain.digest == binary.digest
    assert plain.env == GoEnv(9, planes="katago")
    with pytest.raises(ModelError, match="needs an installed katrain"):
        load_model("katago:katrain")
    (tmp_path / "katrain" / "models").mkdir(parents=True)
    (tmp_path / "katrain" / "__init__.py").write_text("raise ImportError('it is not imported')")
    file_of(tmp_path / "katrain" / "models", network(8))
    monkeypatch.syspath_prepend(tmp_path)
    assert load_model("katago:katrain").digest == plain.digest


def lying_matrix(plain: bytes) -> bytes:
    """Return a network whose first matrix of a summary has one output, to be multiplied by each of a norm."""
    begin = plain.index(b"matrix\n12\n6\n")
    numbers = plain.index(b"@BIN@", begin) + 5
    return plain[:begin] + b"matrix\n12\n1\n" + plain[numbers - 5 : numbers + 48] + plain[numbers + 12 * 6 * 4 :]


def refusals() -> dict[str, bytes]:
    plain = plain_network(17)
    vast = plain.replace(b"trunk\n7\n8\n", b"trunk\n7\n999999\n", 1)
    vast = vast.replace(b"22\n8\n1\n1\n", b"22\n999999\n1\n1\n", 1)
    return {
        "it is cut off": network(9)[:-500],
        "incorrect data check": network(9)[:-8] + bytes(8),
        "more follows": network(9) + b"more",
        "more follows after": gzip.compress(plain + b"\n" * 10**8),
        "version 18": gzip.compress(plain_network(17).replace(b"random\n17\n", b"random\n18\n")),
        "version 7": gzip.compress(plain_network(8).replace(b"random\n8\n", b"random\n7\n")),
        "a human-style network": gzip.compress(plain.replace(b"150.0\n0\n", b"150.0\n1\n", 1)),
        "no network of KataGo": gzip.compress(b"some text and more of it\n" * 99),
        "a word or number must follow": gzip.compress(bytes(10**6)),
        "outputs of a convolution must be": gzip.compress(plain.replace(b"22\n8\n1\n1\n", b"22\n9999999\n1\n1\n", 1)),
        "numbers cannot follow": gzip.compress(vast),
        "must be 1000000, got": gzip.compress(plain.replace(b"trunk\n7\n8\n", b"trunk\n7\n1000000\n", 1)),
        "outputs of a matrix must be 6": gzip.compress(lying_matrix(plain)),
        "NaN or infinite": gzip.compress(plain[:-9] + b"\xff" * 8 + b"\n"),
        "times its size": gzip.compress(vast + bytes(10**8)),
    }


@pytest.mark.parametrize("why", refusals())
def test_refused_with_a_sentence(tmp_path, why):
    with pytest.raises(ModelError, match=why) as raised:
        load_model(file_of(tmp_path, refusals()[why]), ENV)
    assert "\n" not in str(raised.value)


def test_white_space_is_read_once():
    """However much of it follows: an array gives up at once."""
    white = gzip.compress(b"\n" * 10**6)
    with pytest.raises(ValueError, match="it is cut off"):
        KataGoFile(io.BytesIO(white), len(white)).array(1)


def test_another_game_is_refused(tmp_path):
    with pytest.raises(ModelError, match="game must be gomoku"):
        load_model(file_of(tmp_path, network(8)), GomokuEnv(9))


@pytest.mark.parametrize("count", [200, pytest.param(3000, marks=pytest.mark.campaign)])
def test_damaged_files_are_read_or_refused(tmp_path, count):
    """Bits flip, ends are missing, and numbers lie in a file that is whole."""
    chance = random.Random(count)
    for _ in range(count):
        version = chance.choice(VERSIONS)
        data, plain = bytearray(network(version)), plain_network(version)
        match chance.randrange(3):
            case 0:
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            case 1:
                del data[chance.randrange(len(data)) :]
            case _:
                number = chance.choice(list(re.finditer(rb"(?<=\n)[0-9.]+(?=\n)", plain)))
                lie = str(chance.choice([0, -1, 1, 2, 7, 10**6, 10**30, "nan", "1e400", 2**31])).encode()
                data[:] = gzip.compress(plain[: number.start()] + lie + plain[number.end() :], 1)
        path = tmp_path / "damaged.bin.gz"
        path.write_bytes(data)
        with contextlib.suppress(ModelError):
            model_files.read_weights(path)


@pytest.mark.parametrize("base", ["transformer", "katago"])
def test_it_learns(tmp_path, base):
    env = GoEnv(5, planes="katago")
    net = NeuralNet(env, "transformer", channels=32, tower_height=1) if base == "transformer" else None
    if net is None:
        net = load_model(file_of(tmp_path, network(17)), env)
    planes = torch.rand(16, 30, 5, 5, generator=torch.Generator().manual_seed(1)).round()
    target = torch.arange(16) % 26
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    losses = []
    for _ in range(40):
        logits, value, _ = net.train().forecast(planes)
        loss = torch.nn.functional.cross_entropy(logits, target) + (value - 0.5).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
    assert all(parameter.grad is not None for parameter in net.base_net.parameters())


@pytest.mark.slow
@pytest.mark.skipif("ALPHAGO_KATAGO" not in os.environ, reason="needs ALPHAGO_KATAGO, a file of KataGo's")
def test_a_real_network():
    """It must be one of those whose names are in the golden file."""
    net = load_model(f"katago:{os.environ['ALPHAGO_KATAGO']}", ENV)
    name = re.search(r"network (\S+),", net.taught_by)
    assert_golden(net, GOLDEN["networks"][name[1]], LEAD_FACTOR)
    assert measured_network(net, GoEnv(9)) == ("b7c96h3tfrs" if name[1].startswith("b7c96h3tfrs-") else "")

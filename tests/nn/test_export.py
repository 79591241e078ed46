"""Exported networks: they compute what torch does, in any number, on other boards, and say what they are."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from alphago import ConnectFourEnv, GoEnv, NeuralNet, OwareEnv, ReversiEnv
from alphago.nn.base import DenseBase, ResidualTower
from alphago.nn.export import export_model, network_graph, onnx_run
from alphago.nn.graph import run_graph
from alphago.nn.random_positions import random_planes
from alphago.nn.value import AddedForecast, DenseValue
from tests.nn.boards import randomised

SMALL = {"tower_height": 2, "channels": 8}


def nets() -> dict[str, NeuralNet]:
    return {
        "size-free": NeuralNet(GoEnv(5), **SMALL),
        "paper": NeuralNet(GoEnv(5, 17), size_free=False, **SMALL),
        "dense": NeuralNet(OwareEnv(), DenseBase(16, (2, 6), [24, 12])),
        "no square": NeuralNet(ConnectFourEnv(), **SMALL),
        "passes": NeuralNet(ReversiEnv(6), **SMALL),
        "preactivation": NeuralNet(ReversiEnv(4), ResidualTower(4, 8, 2, block="preactivation", activation="elu")),
        "added": NeuralNet(GoEnv(4), ResidualTower(16, 8, 1), AddedForecast(DenseValue(8, (4, 4)), 8), size_free=False),
    }


@pytest.mark.parametrize("name", ["size-free", *(pytest.param(name, marks=pytest.mark.slow) for name in [*nets()][1:])])
@pytest.mark.parametrize("format", ["onnx", "w32"])
def test_computes_what_torch_does(name: str, format: str, tmp_path: Path) -> None:
    net = randomised(nets()[name])
    export = export_model(net, tmp_path / f"net.{format}", positions=60)
    assert max(export.differences.values()) < 1e-3
    assert {"logits", "value"} <= set(export.differences)
    assert export.positions == 60 * (2 if net.size_free else 1)
    assert export.bytes == sum(path.stat().st_size for path in tmp_path.iterdir())


def read_raw(path: Path, dtype: str) -> tuple[dict[str, np.ndarray], dict]:
    """As another program would, from the manifest alone."""
    manifest = json.loads(Path(f"{path}.json").read_text())
    numbers = np.fromfile(path, dtype)
    assert len(numbers) == manifest["numbers"]
    layers = {}
    for layer in manifest["layers"]:
        count = int(np.prod(layer["shape"]))
        layers[layer["name"]] = numbers[layer["offset"] : layer["offset"] + count].reshape(layer["shape"])
    return layers, manifest


class TestRawWeights:
    def test_half_precision_tells_what_it_costs(self, tmp_path: Path) -> None:
        net = randomised(nets()["dense"])
        exact = export_model(net, tmp_path / "net.w32", positions=20)
        half = export_model(net, tmp_path / "net.w16", positions=20)
        assert half.files[0].stat().st_size * 2 == exact.files[0].stat().st_size
        assert half.differences["logits"] > exact.differences["logits"]
        layers, _ = read_raw(tmp_path / "net.w16", "<f2")
        assert layers["policy.last.weight"].dtype == np.float16

    def test_weights_that_half_precision_cannot_hold(self, tmp_path: Path) -> None:
        net = nets()["dense"]
        with torch.no_grad():
            net.policy.last.bias += 1e6
        with pytest.raises(ValueError, match=r"policy.last.bias must fit into w16's numbers, got 1e\+06: choose w32"):
            export_model(net, tmp_path / "net.w16", positions=5)
        assert not list(tmp_path.iterdir())

    def test_the_manifest_is_enough_to_compute(self, tmp_path: Path) -> None:
        """The steps, run by numpy from the file alone."""
        net = randomised(nets()["size-free"])
        export_model(net, tmp_path / "net.w32", positions=5)
        layers, manifest = read_raw(tmp_path / "net.w32", "<f4")
        assert layers["base_net.entry.0.weight"].shape == net.base_net.entry[0].weight.shape
        assert (manifest["game"], manifest["game_options"]["komi"]) == ("go", 7.5)
        weights = layers | {name: np.array(values) for name, values in manifest["constants"].items()}
        graph = network_graph(net)
        assert manifest["steps"] == json.loads(json.dumps([list(step) for step in graph.steps]))
        planes = random_planes(GoEnv(6), 7)
        with torch.no_grad():
            logits, value = net.resized(GoEnv(6))(torch.from_numpy(planes))
        outputs = run_graph(graph, weights, planes)
        np.testing.assert_allclose(outputs["logits"], logits.numpy(), atol=1e-3)
        np.testing.assert_allclose(outputs["value"], value.numpy(), atol=1e-3)


@pytest.mark.slow
class TestOnnx:
    def test_any_number_of_positions_on_any_board(self, tmp_path: Path) -> None:
        net = randomised(nets()["size-free"])
        export_model(net, tmp_path / "net.onnx", positions=5)
        run = onnx_run((tmp_path / "net.onnx").read_bytes())
        for env, count in ((GoEnv(5), 1), (GoEnv(5), 33), (GoEnv(9), 2), (GoEnv(3), 4)):
            outputs = run(random_planes(env, count))
            shapes = {name: array.shape for name, array in outputs.items()}
            assert shapes.pop("logits") == (count, env.action_space)
            assert shapes == {"value": (count,), "score": (count,), "ownership": (count, env.N**2)}

    def test_it_says_what_it_is(self, tmp_path: Path) -> None:
        onnx = pytest.importorskip("onnx")
        export_model(nets()["dense"], tmp_path / "net.onnx", positions=5)
        model = onnx.load(tmp_path / "net.onnx")
        facts = {entry.key: entry.value for entry in model.metadata_props}
        assert facts["game"] == "oware"
        assert json.loads(facts["game_options"]) == OwareEnv().config
        for value in (*model.graph.input, *model.graph.output):
            assert "player about to move" in value.doc_string or value.name == "logits"
        sides = model.graph.input[0].type.tensor_type.shape.dim
        assert [side.dim_param or side.dim_value for side in sides] == ["batch", 16, 2, 6]

    def test_without_its_packages(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("onnx", "onnxruntime"):
            with monkeypatch.context() as patch:
                patch.setitem(sys.modules, name, None)
                sentence = rf"ONNX needs {name}, which is not installed: pip install 'alphago\[export\]'"
                with pytest.raises(ImportError, match=sentence):
                    export_model(nets()["dense"], tmp_path / "net.onnx", positions=5)
        assert not list(tmp_path.iterdir())


def test_a_layer_without_translation(tmp_path: Path) -> None:
    net = NeuralNet(GoEnv(4), nn.Sequential(nn.Conv2d(16, 8, 3, padding=1), nn.GELU()))
    with pytest.raises(ValueError, match=r"^base_net: .*\.Sequential cannot be exported: no translation of GELU"):
        export_model(net, tmp_path / "net.onnx")

"""`load_model` with a name or a folder and without a game; the networks that come with the package."""

import json
import pathlib

import numpy as np
import pytest
from alphago.nn.saved import model_file, packaged
from safetensors.torch import load_file, save_file

from alphago.env.game import GameEnv
from alphago.env.go import GoEnv
from alphago.nn import model_files as weights
from alphago.nn import saved
from alphago.nn.model_files import ModelError
from alphago.nn.net import NeuralNet, load_model
from tests.nn.boards import ClaimingEnv


def save(env: GameEnv, path: pathlib.Path) -> pathlib.Path:
    NeuralNet(env, tower_height=0, channels=4).save(path)
    return path


def test_without_a_game_a_network_loads_with_its_own(tmp_path):
    """The rules of Go, that is: what self-play changed about them is left out."""
    path = save(GoEnv(5, komi=3.5, max_moves=40).training_variant(), tmp_path / "net")
    net = load_model(path)
    assert net.env == GoEnv(5, komi=3.5)
    assert np.array_equal(net(net.env.position())[0], load_model(path, GoEnv(5))(GoEnv(5, komi=3.5).position())[0])


def test_other_games_have_to_be_named(tmp_path):
    file = save(ClaimingEnv(3, 3), tmp_path / "net")
    text = r"net holds a network for ClaimingEnv\(height=3, width=3, passes=False\), which does not come"
    with pytest.raises(ModelError, match=text):
        load_model(file)
    assert load_model(file, ClaimingEnv(3, 3)).env == ClaimingEnv(3, 3)


@pytest.mark.parametrize("config", [{}, {"board_size": "nine", "komi": 7, "planes": None}], ids=str)
def test_a_description_without_a_board_is_damaged(tmp_path, config):
    path = save(GoEnv(5), tmp_path / "net")
    texts = dict(weights.read_header(path, path.read_bytes()))
    save_file(load_file(path), path, metadata={**texts, "env_config": json.dumps(config)})
    with pytest.raises(ModelError, match="net has a damaged description"):
        load_model(path)


def test_a_run_folder_stands_for_its_latest_network(tmp_path):
    with pytest.raises(ModelError, match=r"is a folder, wanted a network saved with NeuralNet\.save"):
        load_model(tmp_path)
    save(GoEnv(3), tmp_path / "weights.safetensors")
    assert load_model(tmp_path).env == GoEnv(3)


def test_names_of_packaged_networks(tmp_path, monkeypatch):
    monkeypatch.setattr(saved, "PACKAGED", tmp_path)
    with pytest.raises(ModelError, match="no network 7x7 comes with the package: there are none"):
        load_model("7x7")
    for size in (13, 7, 9):
        save(GoEnv(size), tmp_path / f"{size}x{size}.safetensors")
    (tmp_path / "notes.txt").write_text("not a network")
    assert packaged() == ["7x7", "9x9", "13x13"]
    assert load_model("9x9").env == GoEnv(9)
    with pytest.raises(ModelError, match="no network 19x19 comes with the package: there are 7x7, 9x9, 13x13"):
        load_model("19x19")


def test_an_own_file_goes_before_a_packaged_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(GoEnv(3), tmp_path / "7x7")
    assert load_model("7x7").env == GoEnv(3)


def test_every_packaged_network_plays_its_board():
    assert packaged()
    for name in packaged():
        net = load_model(name)
        assert net.env == GoEnv(int(name.partition("x")[0]), komi=net.env.komi)
        policy, value = net(net.env.position())
        assert policy.sum() == pytest.approx(1, abs=1e-5)
        assert -1 <= value <= 1
        assert model_file(name).stat().st_size <= 4 * 2**20

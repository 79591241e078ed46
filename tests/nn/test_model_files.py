"""Saved networks come back as they were, by path, folder or name; anything else is refused with a sentence."""

import ctypes
import json
import os
import pathlib

import numpy as np
import pytest
import torch
from safetensors.torch import load
from torch import nn

from alphago import GameEnv, GoEnv, NeuralNet, load_model
from alphago.env.packaged_nets import named_board_size, packaged_net, packaged_nets
from alphago.nn import model_files
from alphago.nn.model_files import ModelError, model_file, saved_game, tensors_to_bytes
from tests.nn.boards import ClaimingEnv, assert_reads_alike, lived_in

ENV = GoEnv(5)
DAMAGED = "is no network, or a damaged one: "
STRUCTURE = {"game": "go", "planes": 16, "plane_shape": [5, 5], "action_space": 26}


@pytest.fixture
def net() -> NeuralNet:
    return lived_in(NeuralNet(ENV, tower_height=1, channels=8))


@pytest.fixture
def path(tmp_path: pathlib.Path, net: NeuralNet) -> pathlib.Path:
    path = tmp_path / "net.safetensors"
    net.save(path)
    return path


def rewritten(path: pathlib.Path, drop=(), **changes) -> pathlib.Path:
    """The file with other weights (by name) or descriptions."""
    tensors, texts = model_files.read_sealed(path.read_bytes())
    texts |= {key: value for key, value in changes.items() if isinstance(value, str)}
    tensors |= {key.replace("__", "."): value for key, value in changes.items() if isinstance(value, torch.Tensor)}
    other = path.with_name("other.safetensors")
    other.write_bytes(model_files.sealed_bytes({k: v for k, v in tensors.items() if k not in drop}, texts))
    return other


def test_own_modules_come_back(tmp_path):
    def parts() -> tuple[nn.Module, nn.Module]:
        return nn.Conv2d(16, 4, 3, padding=1), nn.Sequential(nn.Flatten(), nn.Linear(100, 26))

    base, policy = parts()
    net = NeuralNet(ENV, base, policy=policy)
    net.save(tmp_path / "own")
    base, policy = parts()
    loaded = load_model(tmp_path / "own", ENV, base_net=base, policy=policy)
    assert_reads_alike(loaded, net, ENV.position())
    with pytest.raises(ModelError, match=r"its own base_net, a torch.nn.modules.conv.Conv2d: pass one as base_net="):
        load_model(tmp_path / "own", ENV)
    with pytest.raises(ModelError, match=r"cannot be rebuilt: base_net: .* failed"):
        load_model(tmp_path / "own", ENV, base_net=nn.Conv2d(3, 4, 3), policy=policy)
    with pytest.raises(ModelError, match=r"base_net.weight must have shape \[4, 16, 5, 5\], got \[4, 16, 3, 3\]"):
        load_model(tmp_path / "own", ENV, base_net=nn.Conv2d(16, 4, 5, padding=2), policy=policy)


def test_tied_weights_can_be_saved(tmp_path):
    linear = nn.Linear(25, 25)
    base = nn.Sequential(nn.Flatten(2), linear, linear, nn.Unflatten(2, (5, 5)))
    NeuralNet(ENV, base).save(tmp_path / "tied")
    load_model(tmp_path / "tied", ENV, base_net=base)


def test_default_parts_are_not_replaced(path):
    with pytest.raises(ModelError, match="has the default value, but Tanh was passed for it"):
        load_model(path, ENV, value=nn.Tanh())


@pytest.mark.parametrize("size", [2, 4, 7, 9, 19])
def test_size_free_networks_load_on_another_board(net, path, size):
    loaded = load_model(path, GoEnv(size, komi=0.5))
    assert (loaded.env, loaded.size_free) == (GoEnv(size, komi=0.5), True)
    position = GoEnv(size, komi=0.5).position().play(1)
    assert_reads_alike(loaded, net.resized(GoEnv(size, komi=0.5)), position)


@pytest.fixture
def dense(tmp_path: pathlib.Path) -> pathlib.Path:
    """A network for one board size."""
    NeuralNet(ENV, tower_height=1, channels=8, size_free=False).save(tmp_path / "dense")
    return tmp_path / "dense"


def test_dense_networks_come_back_on_their_own_board_only(dense):
    assert not load_model(dense, GoEnv(5, komi=0.5, max_moves=20)).size_free
    text = r"holds a network for GoEnv\(5\), not for GoEnv\(7\): plane_shape must be \[7, 7\], got \[5, 5\]"
    with pytest.raises(ModelError, match=text):
        load_model(dense, GoEnv(7))


def test_other_planes(path, dense):
    for file in (path, dense):
        with pytest.raises(ModelError, match=r"not for GoEnv\(5, planes=5\): planes must be 5, got 16"):
            load_model(file, GoEnv(5, planes=5))


def test_a_game_with_a_pass_and_one_without(tmp_path):
    """The size of the board is not all that may differ: the policy has a pass or none."""
    NeuralNet(ClaimingEnv(3, 4), tower_height=0, channels=4).save(tmp_path / "net")
    assert load_model(tmp_path / "net", ClaimingEnv(5, 2)).env == ClaimingEnv(5, 2)
    with pytest.raises(ModelError, match="action_space must be 13, got 12"):
        load_model(tmp_path / "net", ClaimingEnv(3, 4, passes=True))


def with_header(header: bytes, data: bytes = b"") -> bytes:
    """The bytes of a safetensors file."""
    return len(header).to_bytes(8, "little") + header + data


def with_texts(**texts: str) -> bytes:
    return tensors_to_bytes({"a": torch.zeros(2)}, texts)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", DAMAGED),
        (b"\0", DAMAGED),
        (b"hello, this is a text", DAMAGED),
        (with_header(b"[]"), DAMAGED),
        (b"\xff" * 7 + b"\x7f{}", DAMAGED),  # a header of 2^63 bytes
        (with_header(b'{"a":' + b"[" * 100_000), DAMAGED),
        (with_header(b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', b"12345"), DAMAGED),
        (b"PK\3\4 and more", DAMAGED + "it is a zip archive, such as a torch checkpoint"),
        (b"\x80\2 and more", DAMAGED + "it is a pickle, which could run code"),
        (with_header(b'{"__metadata__":null}'), "is another program's safetensors file"),
        (with_texts(), "is another program's safetensors file"),
        (with_texts(format=model_files.FORMAT, format_version="9"), "must have format version 1, got 9"),
        (with_texts(format=model_files.FORMAT, format_version="1"), "has a damaged description"),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_foreign_files(tmp_path, data, text):
    (tmp_path / "foreign").write_bytes(data)
    with pytest.raises(ModelError, match=f"^{tmp_path / 'foreign'} {text}"):
        load_model(tmp_path / "foreign", ENV)


def test_places_without_a_file(tmp_path):
    with pytest.raises(ModelError, match=f"there is no file {tmp_path / 'none'}"):
        load_model(tmp_path / "none", ENV)
    with pytest.raises(ModelError, match=f"{tmp_path} cannot be read: there is a folder of that name"):
        load_model(tmp_path, ENV)


def test_every_truncation_is_noticed(path):
    data = path.read_bytes()
    for length in [*range(0, 60, 7), *np.linspace(60, len(data) - 1, 40).astype(int)]:
        path.write_bytes(data[:length])
        with pytest.raises(ModelError, match=DAMAGED):
            load_model(path, ENV)


def test_a_changed_byte_is_noticed_wherever_it_is(path):
    data = path.read_bytes()
    header = int.from_bytes(data[:8], "little") + 8
    name = data.index(b"GoEnv")
    for place in (*range(header, len(data), len(data) // 40), name + 1):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(ModelError, match="is damaged: its contents are not those that were saved"):
            load_model(path, ENV)


def test_only_regular_files_of_a_possible_size_are_read(tmp_path):
    """Nothing waits for a pipe, and 20 GB that a disk does not even hold are not read into memory."""
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        for place in (tmp_path / "pipe", "/dev/zero"):
            with pytest.raises(ModelError, match=r"cannot be read: .* is a (pipe|device), no regular file"):
                load_model(place, ENV)
    entry = {"a": {"dtype": "F32", "shape": [5 * 10**9], "data_offsets": [0, 20 * 10**9]}}
    with open(tmp_path / "sparse", "wb") as file:
        file.write(with_header(json.dumps(entry).encode()))
        file.truncate(file.tell() + 20 * 10**9)
    with pytest.raises(ModelError, match=r"is too large \(20,000,000,\d* bytes, at most 2,147,483,648"):
        load_model(tmp_path / "sparse", ENV)


@pytest.mark.parametrize(("bias", "text"), [(torch.tensor(torch.nan), "finite numbers"), ({"calls": 3}, "a tensor")])
def test_weights_that_are_no_numbers_are_not_saved(net, path, bias, text, monkeypatch):
    """A module's state may hold anything."""
    before, state = path.read_bytes(), net.state_dict() | {"value.last.bias": bias}
    monkeypatch.setattr(net, "state_dict", lambda: state)
    with pytest.raises(ValueError, match=rf"^value\.last\.bias must be {text} to be saved, got "):
        net.save(path)
    assert path.read_bytes() == before


def test_a_mistyped_name_is_answered_with_the_one_that_was_meant():
    with pytest.raises(ModelError, match="there is no file 9x: did you mean 9x9"):
        load_model("9x")
    with pytest.raises(ModelError, match="there is no file 9x9@8: 9x9 is a network, with @8 it is a player of matches"):
        load_model("9x9@8")


MISFIT = " must have shape|, which the network does not have"


def net_of(**config) -> dict[str, str]:
    return {"net": json.dumps({"custom": {}, "parts": {}, **config})}


def game_of(**config) -> dict[str, str]:
    return {"env_config": json.dumps(config)}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"drop": ["value.last.bias"]}, "lacks the weight value.last.bias"),
        ({"stranger": torch.zeros(1)}, "holds a weight stranger, which the network does not have"),
        ({"value__last__bias": torch.zeros(3)}, r"weight value.last.bias must have shape \[2\], got \[3\]"),
        ({"value__last__bias": torch.zeros(2, dtype=torch.int64)}, "last.bias must be torch.float32, got torch.int64"),
        ({"value__last__bias": torch.tensor([0, torch.nan])}, "value.last.bias holds NaN or infinite numbers"),
        ({"net": "{"}, "has a damaged description"),
        ({"net": '{"custom": []}'}, "has a damaged description"),
        ({"structure": "[]"}, "structure must be a table"),
        (game_of(), "other.safetensors has a damaged description"),
        (game_of(board_size="nine", komi=7, planes=None), "other.safetensors has a damaged description"),
        ({"structure": json.dumps(STRUCTURE | {"game": []})}, r"game must be a name, got \[\]"),
        *(
            ({"structure": json.dumps(STRUCTURE | {"plane_shape": sides})}, "plane_shape must be")
            for sides in ("xx", None, [], [[5], 5], [5, -1], [5, 1e9])
        ),
        ({"format_version": "9" * 10**6}, "must have format version 1, got 9{100} … 9{90}$"),
        ({"extra": '{"resign_threshold": "nan"}'}, "resign_threshold must be a number from -1 to 1, got 'nan'"),
        (net_of(parts={"head": {"part": "FlatValue"}}), "a part must be base_net or value or policy, got head"),
        (net_of(tower_height=1, channels=10**6), r"weight entry.0.weight must have shape \[1000000, .*, got \[8, "),
        (net_of(tower_height=3, channels=8), "weight blocks.1.first.0.weight must have shape .*, got none"),
        (net_of(tower_height="1", channels=8), "cannot be rebuilt: height must be an integer >= 0, got '1'"),
        (net_of(tower_height=1, channels=0), "cannot be rebuilt: channels must be an integer >= 1, got 0"),
        (net_of(tower_height=0, channels=8, size_free=True), "holds a weight base_net.blocks.0"),
        (net_of(tower_height=1, channels=8, size_free=False), rf"weight (policy|value|base_net)\.\S+({MISFIT})"),
    ],
)
def test_damaged_contents(path, changes, text):
    with pytest.raises(ModelError, match=text):
        load_model(rewritten(path, **changes), None if "env_config" in changes else ENV)


def test_saving_where_it_cannot_be(net, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the network could not be saved as .*none/net: No such file"):
        net.save(tmp_path / "none" / "net")
    with pytest.raises(IsADirectoryError, match="there is a folder of that name"):
        net.save(tmp_path)


# --- which network, and for which game --------------------------------------------------------------


def save(env: GameEnv, path: pathlib.Path) -> pathlib.Path:
    NeuralNet(env, tower_height=0, channels=4).save(path)
    return path


def test_other_games_have_to_be_named(tmp_path):
    file = save(ClaimingEnv(3, 3), tmp_path / "net")
    text = r"net holds a network for ClaimingEnv\(height=3, width=3, passes=False\), which does not come"
    for read in (load_model, saved_game):
        with pytest.raises(ModelError, match=text):
            read(file)
    assert load_model(file, ClaimingEnv(3, 3)).env == ClaimingEnv(3, 3)


def test_names_of_packaged_networks():
    boards = [board for name in packaged_nets() if (board := named_board_size(name)) is not None]
    assert boards == sorted(boards)
    assert [name.removesuffix("-large") for name in packaged_nets()][: len(boards)] == [f"{n}x{n}" for n in boards]
    names = ["7x7", "13x13", "9x9-large", "9x9", "oware"]
    chosen = {size: packaged_net("go", size, names) for size in (5, 8, 9, 10, 19)}
    assert chosen == {5: "7x7", 8: "9x9", 9: "9x9", 10: "13x13", 19: "13x13"}
    assert packaged_net("oware", 6, names) == "oware"
    assert packaged_net("reversi", 8, names) is None
    assert packaged_net("go", 9, ["oware"]) is None
    assert load_model("9x9").env.N == 9
    for name in ("b" * 300, "a\0b", "\ud800", pathlib.Path("b" * 300)):
        with pytest.raises(ModelError, match="cannot be the name of a file"):
            load_model(name)
    with pytest.raises(ModelError, match=f"no network 19x19 comes with .*: there are {', '.join(packaged_nets())}$"):
        load_model("19x19")


def test_an_own_file_goes_before_a_packaged_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(GoEnv(3), tmp_path / "7x7")
    assert load_model("7x7").env == GoEnv(3)


def test_every_packaged_network_plays_its_game():
    assert "7x7" in packaged_nets()
    for name in packaged_nets():
        net = load_model(name)
        if named_board_size(name) is None:
            assert net.env.name == name
        else:
            assert net.env == GoEnv(named_board_size(name), komi=net.env.komi)
        policy, value = net(net.env.position())
        assert policy.sum() == pytest.approx(1, abs=1e-5)
        assert -1 <= value <= 1
        assert b'"digest":"' in model_file(name).read_bytes()[:2000]
        assert model_file(name).stat().st_size <= 4 * 2**20


def test_the_game_of_a_saved_network(tmp_path):
    """Board, komi, rules and planes, and no options of self-play; another board has its usual komi."""
    path = tmp_path / "net"
    save(GoEnv(5, komi=3.5, planes=5, max_moves=20, margin_weight=0.3, first_pass=9), path)
    assert saved_game(path) == GoEnv(5, komi=3.5, planes=5)
    assert saved_game(path, 7) == GoEnv(7, komi=9, planes=5)
    env = GoEnv(3, komi=0, turns=6, first_pass=12, planes="turns", ko="situational", suicide=True)
    save(env, path)
    assert load_model(path).env == saved_game(path) == env.replace(first_pass=0)
    assert saved_game(path, 5) == GoEnv(5, turns=6, planes="turns", ko="situational", suicide=True)


@pytest.mark.parametrize(("mark", "modulus"), [(b"PK", 2**16), (b"\x80", 2**8)])
def test_a_header_whose_length_begins_like_another_kind_of_file(tmp_path, mark, modulus):
    """A zip archive begins with "PK", a pickle with 128; so may the length of a header, such as 19 280 (0x4B50)."""
    net, file = NeuralNet(ENV, tower_height=0, channels=4), tmp_path / "net"
    net.save(file, {"text": ""})
    length = int.from_bytes(file.read_bytes()[:8], "little")
    missing = (int.from_bytes(mark, "little") - length) % modulus
    net.save(file, {"text": "a" * missing})
    assert file.read_bytes().startswith(mark)
    assert load_model(file).notes["text"] == "a" * missing


# --- bytes ------------------------------------------------------------------------------------------

DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.int64, torch.uint8, torch.bool]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_they_are_read_again(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    tensor = torch.ones(shape).to(dtype)
    data = tensors_to_bytes({"a": tensor}, {"text": "ü"})
    read = load(data)["a"]
    assert (read.dtype, read.shape) == (dtype, tensor.shape)
    assert torch.equal(read, tensor)
    assert b'"text"' in data


def test_a_new_size_leaves_nothing_behind() -> None:
    before = len(ctypes.Array.__subclasses__())
    for size in range(4001, 4021):
        tensors_to_bytes({"a": torch.zeros(size)}, {})
    assert len(ctypes.Array.__subclasses__()) < before + 20

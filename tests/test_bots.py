"""The bots of examples/bots: their rules and their search are the package's, and one file is all they need."""

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from alphago import GameBatch, GameEnv, GoEnv, NeuralNet, OwareEnv, Position, Puct
from alphago.mcts.evaluator import Evaluator
from alphago.nn.base import DenseBase, ResidualTower
from alphago.nn.blocks import ConvBn
from tests.mcts import trees
from tests.nn.boards import randomised

BOTS = Path(__file__).parents[1] / "examples" / "bots"
ONE = np.zeros(1, np.int64)
OWARE = OwareEnv(rules="cgzero", graded=False)
# Moves of Oware, after which the next one repeats a position and wins.
REPEATED = "0415502551152443022310524335531034310240314312214254310253151445502132435405"
ONE_HOT = OWARE.replace(planes="one-hot")


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"loaded_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rounded(net: NeuralNet) -> NeuralNet:
    """Give a network the weights that a bot has: batch norms folded into the convolutions, then float16."""
    with torch.no_grad():
        for module in net.modules():
            if isinstance(module, ConvBn):
                conv, norm = module
                scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
                conv.weight *= scale[:, None, None, None]
                norm.bias -= norm.running_mean * scale
                norm.weight.fill_(1)
                norm.running_mean.zero_()
                norm.running_var.fill_(1 - norm.eps)
        for parameter in net.parameters():
            parameter.copy_(parameter.half().float())
    return net.eval()


def small_net(game: str) -> NeuralNet:
    """A network as float16 and float32 have it."""
    if game == "oware":
        net = NeuralNet(OWARE, DenseBase(16, (2, 6), (24, 16)))
    elif game == "one-hot":
        net = NeuralNet(ONE_HOT, preset="cgzero")
    else:
        net = NeuralNet(GoEnv(5, planes=3, komi=0.5, max_moves=60), ResidualTower(3, 8, 2, pooled=True))
    return rounded(randomised(net))


@pytest.fixture(scope="module")
def pack() -> ModuleType:
    return load(BOTS / "pack.py")


@pytest.fixture(scope="module")
def programs(pack: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A packed bot of each kind."""
    folder, kinds = tmp_path_factory.mktemp("bots"), ("oware", "go", "one-hot")
    for kind in kinds:
        net = small_net(kind)
        (folder / f"{kind}_bot.py").write_text(pack.pack(net.env.name, net), "utf-8")
    return {kind: folder / f"{kind}_bot.py" for kind in kinds}


@pytest.fixture(scope="module")
def bots(programs: dict[str, Path]) -> dict[str, ModuleType]:
    return {game: load(path) for game, path in programs.items()}


def start(bot: ModuleType, env: GameEnv) -> Any:
    if env.name == "oware":
        return bot.Oware.start(env.config)
    return bot.Go(bot.Rules({**env.config}))


def random_games(bot: ModuleType, env: GameEnv, games: int, seed: int = 1) -> Iterator[tuple[Any, Position]]:
    """The bot's and the package's positions, side by side."""
    random = np.random.default_rng(seed)
    for _ in range(games):
        game, position = start(bot, env), env.position()
        while True:
            yield game, position
            if position.is_over:
                break
            action = int(random.choice(np.flatnonzero(position.legal_mask)))
            game, position = game.after(action), position.play(action)


class TestRules:
    @pytest.mark.parametrize(
        "env",
        [
            OWARE,
            OwareEnv(),
            OwareEnv(25, rules="cgzero"),
            GoEnv(5, planes=3, komi=0.5, max_moves=90),
            GoEnv(3, planes=3, komi=0.5, max_moves=0),
            GoEnv(7, planes=3),
            ONE_HOT,
        ],
        ids=repr,
    )
    def test_are_the_package_s(self, env: GameEnv, bots: dict[str, ModuleType]) -> None:
        for game, position in random_games(bots[env.name], env, 4):
            assert (game.mover, game.over) == (position.to_play, position.is_over), position.describe()
            if position.is_over:
                assert np.float32(game.outcome() * position.to_play) == np.float32(position.outcome)
            else:
                assert game.legal() == np.flatnonzero(position.legal_mask).tolist(), position.describe()
                if env.has_decisive_moves:
                    found = int(position.batch.decisive_moves(ONE, np.empty(1, np.int32))[0])
                    assert game.winning_move() == (None if found < 0 else found), position.describe()
                else:
                    assert game.winning_move() is None
                np.testing.assert_array_equal(game.planes()[0], position.planes())

    def test_a_repetition_that_wins(self, bots: dict[str, ModuleType]) -> None:
        """Too rare for random games: after this one a position comes again, and Black has most of the seeds."""
        env = OwareEnv()
        game, position = bots["oware"].Oware.start(env.config), env.position()
        for action in map(int, REPEATED):
            game, position = game.after(action), position.play(action)
        found = position.batch.decisive_moves(ONE, np.empty(1, np.int32)).tolist()
        assert [game.winning_move()] == found
        assert (-game.mover, *game.sow(found[0])[0]) in game.seen
        then = game.after(found[0])
        assert (then.over, then.outcome()) == (True, -1)  # for the side that is to move


class BotEvaluator(Evaluator):
    """The bot's network as the package's search asks for it."""

    def __init__(self, bot: ModuleType, network: Any) -> None:
        self.bot, self.network = bot, network

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        env = batch.env
        planes = batch.planes(slots, np.empty((len(slots), env.planes, *env.plane_shape), np.float32))
        mask = batch.legal_mask(slots, np.empty(priors.shape, np.bool_))
        priors[:] = 0
        for i in range(len(slots)):
            logits, values[i] = self.network.run(planes[i : i + 1])
            legal = np.flatnonzero(mask[i]).tolist()
            priors[i, legal] = self.bot.masked_softmax(logits, legal)


@pytest.mark.parametrize(("game", "readouts", "every"), [("oware", 120, 9), ("go", 60, 11), ("one-hot", 120, 9)])
class TestSearch:
    def test_is_the_package_s(self, game: str, readouts: int, every: int, bots: dict[str, ModuleType]) -> None:
        """With the same evaluations each action has the same visits, and the move is the same."""
        bot, net = bots[game], small_net(game)
        network = bot.Network(bot.WEIGHTS)
        search, evaluator = bot.Search(network), BotEvaluator(bot, network)
        compared = 0
        for number, (mine, position) in enumerate(random_games(bot, net.env, 4, seed=2)):
            if number % every or position.is_over:
                continue
            action, done = search.best(mine, readouts)
            visits = np.zeros(net.env.action_space, np.int32)
            for child in search.root.children:
                visits[child.action] = child.visits
            expected = trees.run(trees.search_from([position], evaluator, Puct(leaves=1)), readouts)[0]
            assert visits.tolist() == expected.tolist(), position.describe()
            assert (done, action) == (readouts, int(expected.argmax()))
            compared += 1
        assert compared >= 10

    def test_its_network_is_torch_s(self, game: str, readouts: int, every: int, bots: dict[str, ModuleType]) -> None:
        bot, net = bots[game], small_net(game)
        network = bot.Network(bot.WEIGHTS)
        for _, position in random_games(bot, net.env, 1):
            planes = position.planes()[None]
            logits, value = network.run(planes)
            with torch.no_grad():
                expected, expected_value = net(torch.from_numpy(planes))
            np.testing.assert_allclose(logits, expected[0].numpy(), atol=1e-4)
            assert abs(value - float(expected_value)) < 1e-4


def run(program: Path, lines: str, folder: Path) -> list[str]:
    """What a bot answers, alone in an empty folder."""
    command = [sys.executable, "-I", str(program)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=600, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
class TestPrograms:
    def test_oware(self, programs: dict[str, Path], tmp_path: Path) -> None:
        """Turns by 12 integers, by 15, and one with a single legal move."""
        turns = ["4 4 4 4 4 4 4 4 4 4 4 4", "0 5 5 5 5 4 4 4 4 4 4 4 0 0 20", "0 0 0 0 0 9 1 0 0 0 0 0 20 18 90"]
        first, second, third = run(programs["oware"], "\n".join(turns), tmp_path)
        assert first in "012345"
        assert second in "12345"
        assert third == "5"

    def test_go(self, programs: dict[str, Path], tmp_path: Path) -> None:
        commands = ["1 boardsize 5", "boardsize 9", "komi 0.5", "genmove b", "play w pass", "genmove b", "foo", "quit"]
        replies = [line for line in run(programs["go"], "\n".join(commands), tmp_path) if line]
        assert replies[0] == "=1"
        assert replies[1] == "? unacceptable size"
        assert replies[3][:2] == replies[5][:2] == "= "
        assert replies[6] == "? unknown command"
        for reply in (replies[3], replies[5]):
            GoEnv(5).from_text(reply[2:])


class TestPacking:
    def test_a_full_bot_fits_into_100_kb(self, pack: ModuleType) -> None:
        """As large as `train.py` makes it, or CGZero's, whatever its weights are: noise cannot be compressed."""
        make = load(BOTS / "train.py").small_network
        for net in (rounded(make("oware")), small_net("one-hot"), rounded(make("go"))):
            for parameter in net.parameters():
                torch.nn.init.normal_(parameter)
            assert len(pack.pack(net.env.name, net).encode()) <= 100_000

    def test_too_many_weights(self, pack: ModuleType) -> None:
        net = NeuralNet(OWARE, DenseBase(16, (2, 6), (256, 64)))
        with pytest.raises(ValueError, match=r"weights must be at most 80,000 bytes as float16, got 1"):
            pack.pack("oware", net)

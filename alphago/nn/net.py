"""`NeuralNet`: what to play and who wins, for one position or many."""

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
import torch
from torch import nn

from alphago.env.game import GameEnv, Position, check_env, stack
from alphago.nn.base import ResidualTower
from alphago.nn.checks import check_game, check_sizes, check_tensors
from alphago.nn.inference.cpu import NetEvaluator
from alphago.nn.inference.gpu import DeviceEvaluator, make_evaluator
from alphago.nn.kernels.priors import clip_values, masked_softmax_batch
from alphago.nn.model_files import FORMAT, FORMAT_VERSION, ModelError, notes_of, read_weights, write_weights
from alphago.nn.parts import default_policy, default_value, described, rebuilt, rebuilt_for, within
from alphago.nn.saved import model_file, saved_game
from alphago.nn.slots import check_base, check_policy, check_value, class_name, evaluating, same_game, structure
from alphago.nn.value import AddedForecast, Forecast, ForecastValue
from alphago.system.validation import check_float, check_int, checks_keywords

# (tower_height, channels, size_free): one machine learns small boards with the first in minutes; the second
# is the smaller of the two nets of Silver et al. 2017.
PRESETS = {"default": (5, 64, True), "paper": (19, 256, False)}
READ_AT_ONCE = 256  # positions per forward pass of the readable call


@checks_keywords()
class NeuralNet(nn.Module):
    """A network of three parts, each of which may be any `torch.nn.Module` that fits.

    base_net: planes [B, planes, H, W], float32 from the mover's view, to any features [B, ...].
    value: features to [B, 1] or [B] in -1 .. 1, from the view of the player about to move.
    policy: features to logits [B, action_space]; no softmax, and legality is handled outside.
    Default heads need features [B, C, H, W], or [B, F] without a board.

    tower_height, channels: residual blocks of the default tower and their width; 5 and 64 unless given.
    size_free: parts left out have weights that fit any board of the game (`resized`), every second
        block sees the whole board, and the value head forecasts score and ownership too; else they are AlphaGo
        Zero's, whose dense heads fit one board size (Silver et al. 2017, Methods, "Neural network
        architecture").  None for the first where the game's actions are its points and features come [B, C, H, W],
        as large as the board.
    preset: "default" (5 x 64) or "paper" (19 x 256 with dense heads, Silver et al. 2017); what else is
        given goes first.

    Raises ValueError (TypeError for something that is no module or gives no tensor) if a part does
    not fit; the text names it with the expected and the actual shape.
    """

    def __init__(
        self,
        env: GameEnv,
        base_net: nn.Module | None = None,
        value: nn.Module | None = None,
        policy: nn.Module | None = None,
        *,
        tower_height: int | None = None,
        channels: int | None = None,
        size_free: bool | None = None,
        preset: str | None = None,
    ) -> None:
        super().__init__()
        check_env(env)
        given = {"base_net": base_net, "value": value, "policy": policy}
        for slot, module in given.items():
            if module is not None and not isinstance(module, nn.Module):
                raise TypeError(f"{slot}: wanted a torch.nn.Module, got {module!r}")
        if preset is not None and preset not in PRESETS:
            raise ValueError(f"no preset {preset!r}: there are {' and '.join(map(repr, PRESETS))}")
        if base_net is not None and not tower_height is channels is preset is None:
            raise ValueError("tower_height, channels and preset are the default tower's; a base_net was given")
        if size_free and not env.actions_are_points:
            raise ValueError(f"size_free needs a game whose actions are its points, {env} is another one")
        height, width, free = PRESETS[preset or "default"]
        self.size_free = (free if size_free is None else bool(size_free)) and env.actions_are_points
        self.env = env
        self.notes: dict[str, str] = {}  # texts that its file held beside the weights
        self.parts: dict[str, Any] = {}  # of the package's modules, what they are made of
        self.custom: dict[str, str] = {}  # the classes of others
        for slot, module in given.items():
            text = described(module)
            if text is not None:
                self.parts[slot] = text
            elif module is not None:
                self.custom[slot] = class_name(module)
        self.preset = preset
        self.tower_height: int | None = None
        if base_net is None:
            self.tower_height = check_int("tower_height", height if tower_height is None else tower_height, 0)
            width = check_int("channels", width if channels is None else channels, 1)
            base_net = ResidualTower(env.planes, width, self.tower_height, pooled=self.size_free)
        self.base_net = base_net
        features = check_base(base_net, env, default_heads=value is None or policy is None)
        if size_free is None and tuple(features.shape[2:]) != env.plane_shape:
            self.size_free = False  # there is no feature for each point
        self.channels = int(features.shape[1])
        shape = (int(features.shape[-2]), int(features.shape[-1])) if features.dim() == 4 else env.plane_shape
        flat = features.dim() == 2
        if flat and size_free:
            raise ValueError(f"size_free needs features for each point, base_net gave {list(features.shape)}")
        if value is None:
            value = default_value(self.channels, None if flat else shape, self.size_free).to(features)
        if policy is None:
            policy = default_policy(env, self.channels, None if flat else shape, self.size_free).to(features)
        self.value = value
        self.policy = policy
        check_value(self.value, features)
        check_policy(self.policy, features, env)

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Planes [B, planes, H, W] -> logits [B, action_space] and value [B], from the mover's view."""
        features = self.base_net(planes)
        return self.policy(features), self.value(features).flatten()

    def forecast(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, Forecast | None]:
        """What training compares: `forward`, and the value head's Forecast where it makes one."""
        features = self.base_net(planes)
        if isinstance(self.value, (ForecastValue, AddedForecast)):
            forecast = self.value.forecast(features)
            return self.policy(features), forecast.value, forecast
        return self.policy(features), self.value(features).flatten(), None

    def resized(self, env: GameEnv) -> "NeuralNet":
        """This network for another board of the game: the same weights, not a copy of them.

        Raises ValueError if it is not size-free or `env` is another game.
        """
        if not same_game(structure(env), structure(self.env), self.size_free):
            free = "is for one board size" if not self.size_free else "plays that game only"
            raise ValueError(f"a network for {self.env} was wanted for {env}, but it {free}")
        net = NeuralNet(env, self.base_net, self.value, self.policy, size_free=self.size_free)
        net.preset, net.tower_height = self.preset, self.tower_height
        net.parts, net.custom = self.parts, self.custom
        return net.train(self.training)

    def __call__(self, inputs: Any, *rest: Any, **options: Any) -> Any:
        """`net(position)` or `net(positions)` reads positions; `net(planes)` is the module's forward.

        A Position gives (policy, value): policy float32 [action_space], probabilities of the legal
        actions, 0 elsewhere, all 0 once the game is over; value a float in AlphaGo.jl's terms: +1
        Black (the first player) wins, -1 White wins.  A sequence of n positions gives policy float32
        [n, action_space] and value float32 [n].  (AlphaGo.jl returns actions x batch; here the batch
        comes first.)  Batch norm and the like are in eval mode meanwhile.  Raises ValueError for a
        position of another game.

        A tensor goes to `forward`: logits and value, both from the mover's view.
        """
        if isinstance(inputs, (torch.Tensor, torch.fx.Proxy)):
            return super().__call__(inputs, *rest, **options)
        if isinstance(inputs, Position):
            policy, value = self.read([inputs])
            return policy[0], float(value[0])
        if isinstance(inputs, Sequence) and all(isinstance(position, Position) for position in inputs):
            return self.read(inputs)
        raise TypeError(f"a network reads a Position, a list of them or a tensor of planes, got {inputs!r}")

    def read(self, positions: Sequence[Position]) -> tuple[np.ndarray, np.ndarray]:
        """Policy float32 [n, action_space] and value float32 [n], +1 Black wins; see `__call__`."""
        policy = np.zeros((len(positions), self.env.action_space), np.float32)
        value = np.zeros(len(positions), np.float32)
        with evaluating(self):
            for begin in range(0, len(positions), READ_AT_ONCE):
                part = slice(begin, begin + READ_AT_ONCE)
                self._read_into(positions[part], policy[part], value[part])
        return policy, value

    @torch.no_grad()
    def _read_into(self, positions: Sequence[Position], policy: np.ndarray, value: np.ndarray) -> None:
        batch = stack(positions, self.env)
        count = len(positions)
        slots = np.arange(count)
        planes = batch.planes(slots, np.empty((count, self.env.planes, *self.env.plane_shape), np.float32))
        mask = batch.legal_mask(slots, np.empty((count, self.env.action_space), np.bool_))
        parameter = next(self.parameters(), torch.zeros(0))
        logits, raw = self.forward(torch.from_numpy(planes).to(parameter))
        broken = masked_softmax_batch(logits.float().cpu().contiguous().numpy(), mask, policy)
        if clip_values(raw.float().cpu().contiguous().numpy(), value) or broken:
            raise ValueError("the network's output is not finite: its weights are broken, or too large")
        value *= batch.to_play(slots, np.empty(count, np.int8))

    def evaluator(
        self, dtype: str | None = None, device: str = "cpu", *, exact: bool = False
    ) -> NetEvaluator | DeviceEvaluator:
        """A frozen copy for search, which later training does not change; see `device_evaluator.make_evaluator`."""
        return make_evaluator(self.env, (self.base_net, self.value, self.policy), dtype, device, exact)

    @property
    def num_parameters(self) -> int:
        """Numbers that training changes."""
        return sum(parameter.numel() for parameter in self.parameters())

    @property
    def config(self) -> dict[str, Any]:
        """What is needed to build the net again, as plain data; `built_from` reads it.

        parts: the slots for which a part of the package was passed in, and what it is made of.
        custom: the slots for which another module was, and its class.
        """
        return {
            "preset": self.preset,
            "tower_height": self.tower_height,
            "channels": None if self.tower_height is None else self.channels,
            "size_free": self.size_free,
            "parts": self.parts,
            "custom": self.custom,
        }

    def __repr__(self) -> str:
        default = self.tower_height is not None
        tower = [f"tower_height={self.tower_height}", f"channels={self.channels}"] if default else []
        slots = [f"{slot}={type(getattr(self, slot)).__name__}" for slot in (*self.parts, *self.custom)]
        return f"NeuralNet({', '.join([repr(self.env), *slots, *tower])}: {self.num_parameters:,} parameters)"

    @property
    def resign_threshold(self) -> float:
        """The mover's value below which it may resign, by its run's calibration (in `notes`); -1, never, without one.

        ModelError for a note that is no such number.
        """
        note = self.notes.get("resign_threshold", "-1")
        try:
            return check_float("resign_threshold", float(note), -1, 1)
        except ValueError:
            raise ModelError(f"the network's note of its resign_threshold is {note!r}, wanted -1 to 1") from None

    def save(self, path: str | PathLike[str], extra: Mapping[str, str] | None = None) -> None:
        """Writes weights and description to one safetensors file, whole or not at all.

        extra: texts to keep in the file beside them; `load_model` gives them back as `notes`.
        Raises OSError with a sentence if the file cannot be written.
        """
        description = {
            "format": FORMAT,
            "format_version": str(FORMAT_VERSION),
            "env": repr(self.env),
            "env_config": json.dumps(self.env.config, default=str),
            "structure": json.dumps(structure(self.env)),
            "net": json.dumps(self.config),
            "extra": json.dumps(dict(extra or {})),
        }
        write_weights(path, self.state_dict(), description)


def built_from(config: Mapping[str, Any], env: GameEnv, **given: nn.Module | None) -> NeuralNet:
    """A network as `NeuralNet.config` describes it, with new weights.

    given: modules by slot; those that are left out or None are the package's.
    Raises ValueError or TypeError for a description that is none, or does not suit the game.
    """
    modules: dict[str, Any] = {slot: rebuilt(part) for slot, part in config["parts"].items() if not given.get(slot)}
    modules |= {slot: module for slot, module in given.items() if module is not None}
    sizes = {} if "base_net" in modules else {name: config[name] for name in ("tower_height", "channels")}
    net = NeuralNet(env, size_free=bool(config["size_free"]), **modules, **sizes)
    net.preset = config["preset"] if config["preset"] in PRESETS else None
    return net


@checks_keywords()
def load_model(
    path: str | PathLike[str],
    env: GameEnv | None = None,
    *,
    base_net: nn.Module | None = None,
    value: nn.Module | None = None,
    policy: nn.Module | None = None,
) -> NeuralNet:
    """The network that `NeuralNet.save` wrote to a file; in eval mode, on the CPU.

    path: the file, a run folder for its latest network, or the name of a network that comes with the package:
        "7x7", "9x9", ….
    env: the game that it is for: same game, planes, board size and actions as it was saved with; komi and
        the like may differ, and so may the board size where the network is size-free.  None for a game of
        the package, as the network was saved with it.
    base_net, value, policy: modules of the same classes for the parts that were somebody's own, neither
        default ones nor the package's; their weights are overwritten.
    Raises ModelError with a sentence for a file that is missing, damaged, foreign or of another
    game, and for modules that do not fit it.  Nothing in the file is executed.
    """
    given = {"base_net": base_net, "value": value, "policy": policy}
    path = model_file(path)
    if env is None:
        env = saved_game(path)
    check_env(env)
    tensors, description = read_weights(path)
    config = description["net"]
    check_game(path, description, env)
    parts, custom = config["parts"], config["custom"]
    for slot, module in given.items():
        if slot in custom and module is None:
            raise ModelError(f"{path} was saved with its own {slot}, a {custom[slot]}: pass one as {slot}=…")
        if slot not in custom and slot not in parts and module is not None:
            raise ModelError(f"{path} has the default {slot}, but {type(module).__name__} was passed for it")
    if base_net is None and "base_net" not in parts:
        check_sizes(path, tensors, config["tower_height"], config["channels"])
    try:
        for slot, part in parts.items():
            if given[slot] is None:
                given[slot] = rebuilt_for(part, within(tensors, slot))
        net = built_from(config, env, **given)
    except (TypeError, ValueError, KeyError) as error:
        raise ModelError(f"{path} cannot be rebuilt: {error}") from error
    check_tensors(path, tensors, net.state_dict())
    net.load_state_dict(tensors)
    net.notes = notes_of(description)
    return net.eval()

"""The class `NeuralNet`, which computes policy and value, and `load_model`, which loads a network from a file."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import prod
from os import PathLike
from typing import Any, overload

import numpy as np
import torch
from torch import nn

from alphago.drawing.svg import Svg
from alphago.env.game import GameEnv, check_env
from alphago.env.games import GAMES, is_go
from alphago.env.go_rules import KATAGO
from alphago.env.other_names import NETWORK_NAMES
from alphago.env.position import Position
from alphago.nn import model_files, parts
from alphago.nn.base import DenseBase, ResidualTower, transformer_tower
from alphago.nn.forecasts import PositionForecast, forecast_position, read_positions
from alphago.nn.inference.cpu import NetEvaluator
from alphago.nn.inference.evaluator_cache import get_or_make
from alphago.nn.inference.gpu import DeviceEvaluator, make_evaluator
from alphago.nn.inference.hardware import find_device
from alphago.nn.model_files import TAUGHT_BY, ModelError, fingerprint
from alphago.nn.net_picture import net_svg
from alphago.nn.parts import check_base, check_heads, describe_slots
from alphago.nn.policy import FlatPolicy, default_policy
from alphago.nn.threads import one_torch_thread, own_settings
from alphago.nn.value import FlatValue, Forecast, ForecastHead, default_value
from alphago.system.validation import check_choice, check_float, check_int, checks_keywords, shortened
from alphago.workers.work import known_game, plain_game

BASES = {"transformer": transformer_tower}  # bases by name
# (tower_height, channels, size_free) of each preset.  A "default" network learns a small board on one machine in
# minutes; "paper" is the smaller of the two networks of Silver et al. 2017.
PRESETS = {"default": (5, 64, True), "paper": (19, 256, False), "alphago.jl": (19, 256, False)}


@checks_keywords()
class NeuralNet(nn.Module):
    """A network of three parts; each part may be any `torch.nn.Module` with these inputs and outputs.

    Args:
        env: the game.
        base_net: maps planes [B, planes, H, W], float32 in the view of the player about to move, to features [B, ...];
            or "transformer" for a tower of attention and dense layers, by default 7 of each with 96 channels.  The
            default heads need features [B, C, H, W], or [B, F] without a board.
        value: maps features to values [B, 1] or [B], -1 .. 1, in the view of the player about to move.
        policy: maps features to logits [B, action_space], without a softmax; illegal actions have logits too.
        tower_height, channels: number and width of the default tower's residual blocks; None for the preset's numbers.
        size_free: whether the default parts' weights fit any board of the game (`resized`).  Then every second block
            sees the whole board, and the value head predicts score and ownership too.  Otherwise the default parts are
            AlphaGo Zero's, whose dense heads fit one board size (Silver et al. 2017, Methods, "Neural network
            architecture").  None: size-free if the preset is size-free, the game's actions are its points, and features
            have the board's size.
        preset: the sizes of the default parts: "default" for 5 size-free blocks of 64 channels; "paper" (Silver et al.
            2017) or "alphago.jl" for 19 blocks of 256 channels with dense heads.  `tower_height`, `channels` and
            `size_free` replace these values.  "cgzero" and "cody2007" are all layers of another program's network; with
            them these three must be None.  None for "default".

    Raises:
        ValueError: if a part's output has a wrong shape or range.
        TypeError: if a part is not a module or its output not a tensor; the message names the part.
    """

    @own_settings()
    def __init__(
        self,
        env: GameEnv,
        base_net: nn.Module | str | None = None,
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
        self.env = env
        self.preset = preset
        self.notes: dict[str, str] = {}  # texts from the network's file
        self.measured_in = env  # the game in which the run measured the figures in `notes`
        self.taught_by = ""  # the teacher whose labels it has learned from; "" for none
        given = given_parts(env, (base_net, value, policy), preset, tower_height, channels, size_free)
        self.parts, self.custom = describe_slots(given)
        base, value, policy = (given[slot] for slot in parts.SLOTS)
        # A preset of OWN_PARTS brings its own base, so its sizes here are not used.
        preset_height, preset_channels, preset_size_free = PRESETS.get(preset or "default", (0, 0, False))
        # Only a preset is overruled here: `given_parts` has refused size_free=True for a game with other actions.
        self.size_free = (preset_size_free if size_free is None else bool(size_free)) and env.actions_are_points
        self.tower_height: int | None = None  # None for a base_net that is not the default tower
        if base is None:
            self.tower_height = check_int("tower_height", preset_height if tower_height is None else tower_height, 0)
            width = check_int("channels", preset_channels if channels is None else channels, 1)
            base = ResidualTower(env.planes, width, self.tower_height, pooled=self.size_free)
        self.base_net: nn.Module = base
        # The base's output for two sample positions, [2, …].  The default heads are built for its shape, device and
        # dtype.
        features = check_base(base, env, default_heads=value is None or policy is None)
        self.channels = int(features.shape[1])
        feature_board: Any = tuple(features.shape[2:]) or None  # (height, width); None for flat features
        if size_free and feature_board is None:
            raise ValueError(f"size_free needs features for each point, got {list(features.shape)} from base_net")
        # A base that changes the board's shape is taken to fit one board only, unless the caller says otherwise.
        if size_free is None and feature_board != env.plane_shape:
            self.size_free = False
        if value is None:
            value = default_value(self.channels, feature_board, self.size_free).to(features)
        if policy is None:
            policy = default_policy(env, self.channels, feature_board, self.size_free).to(features)
        self.value, self.policy = value, policy
        check_heads(self.value, self.policy, features, env)

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Compute logits [B, action_space] and value [B] from planes [B, planes, H, W].

        All are in the view of the player about to move.
        """
        features = self.base_net(planes)
        return self.policy(features), self.value(features).flatten()

    @overload
    def forecast(self, inputs: Position) -> PositionForecast: ...

    @overload
    def forecast(self, inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, Forecast | None]: ...

    def forecast(self, inputs: object) -> object:
        """Predict how a position's game will end: win probability, score and ownership.

        For a Position, return a PositionForecast in Black's view, computed in eval mode.

        For planes [B, planes, H, W], return the tensors that training needs, in the view of the player about to move:
        logits [B, action_space], value [B], and the value head's Forecast, or None if it is not a ForecastHead.

        Raises:
            ValueError: for a position of another game, for a game without points, and if the value head predicts no
                score and ownership.
        """
        if isinstance(inputs, Position):
            return forecast_position(self.base_net, self.value, self.env, inputs)
        if not isinstance(inputs, torch.Tensor):
            raise TypeError(f"a forecast must be of a Position or a tensor of planes, got {inputs!r}")
        if not isinstance(self.value, ForecastHead):
            return *self.forward(inputs), None
        features = self.base_net(inputs)
        forecast = self.value.forecast(features)
        return self.policy(features), forecast.value, forecast

    def resized(self, env: GameEnv) -> "NeuralNet":
        """Return a network that plays the game on another board and shares its weights with this network.

        Raises:
            ValueError: if `env` is another game, or if this network is not size-free.
        """
        if not parts.fits_game(parts.game_structure(self.env), env, self.size_free):
            why = "is another game" if self.size_free else "has another structure, and its heads fit one board size"
            raise ValueError(f"a network for {self.env} cannot play {env}, which {why}")
        net = NeuralNet(env, self.base_net, self.value, self.policy, size_free=self.size_free)
        net.preset, net.tower_height = self.preset, self.tower_height
        net.parts, net.custom = self.parts, self.custom
        net.taught_by = self.taught_by
        return net.train(self.training)  # the mode of the shared parts stays

    def __getattr__(self, name: str) -> Any:
        """Find parameters and submodules as nn.Module does; for another program's name, say what it is called here."""
        if name in NETWORK_NAMES:
            raise AttributeError(f"NeuralNet has no {name}: {NETWORK_NAMES[name]}")
        return super().__getattr__(name)

    def __call__(self, inputs: object, *rest: object, **options: object) -> Any:
        """Evaluate a position, `net(position)`, several positions, `net(positions)`, or planes, `net(planes)`.

        For a Position, return (policy, value), computed in eval mode.  policy: float32 [action_space], probabilities
        of the legal actions, 0 elsewhere, and all 0 if the game is over.  value: a float in Black's view, as in
        AlphaGo.jl: 1 if Black (the first player) wins, -1 if White wins.

        For a sequence of n positions, return policy float32 [n, action_space] and value float32 [n].  (AlphaGo.jl
        returns actions x batch.)

        For a tensor of planes, return the result of `forward`, with logits and values in the view of the player about
        to move.

        Raises:
            ValueError: for a position of another game.
        """
        if isinstance(inputs, (torch.Tensor, torch.fx.Proxy)):
            return super().__call__(inputs, *rest, **options)
        if isinstance(inputs, Position):
            policy, value = read_positions(self, self.env, [inputs])
            return policy[0], float(value[0])
        if isinstance(inputs, Sequence) and all(isinstance(position, Position) for position in inputs):
            return read_positions(self, self.env, inputs)
        raise TypeError(f"a network's input must be a Position, a list of them or a tensor of planes, got {inputs!r}")

    def evaluator(
        self,
        dtype: str | None = None,
        device: str = "cpu",
        *,
        exact: bool = False,
        shared: bool = True,
        before: object = None,
    ) -> NetEvaluator | DeviceEvaluator:
        """Return an evaluator for search: a frozen copy of the network, which later training does not change.

        The evaluator is cached: as long as the weights are unchanged, further calls return the same object, which
        several searches may use.

        Args:
            dtype, device, exact: see `alphago.nn.inference.gpu.make_evaluator`.
            shared: False for a new evaluator that only the caller uses, for example to `load` other weights into it.
            before: an earlier evaluator that is no longer needed.  If it fits (see `make_evaluator`), it gets this
                network's weights and is returned, instead of a new evaluator.  This argument is ignored if the cache
                has an evaluator.
        """
        make = partial(make_evaluator, self, dtype=dtype, device=device, exact=exact, before=before)
        key = (self.env, dtype, device, exact)  # `before` saves time, but changes no result
        return get_or_make(self, key, make) if shared else make()

    def forecast_evaluator(self, device: str = "cpu", *, dtype: str | None = None) -> NetEvaluator:
        """Return an evaluator that also predicts score and ownership, if the value head does; cached as in `evaluator`.

        Args:
            device: the device that computes the network, as in `evaluator`; the positions are on the CPU.
            dtype: as in `evaluator`.
        """

        def make() -> NetEvaluator:
            return NetEvaluator(self, forecasts=True, where=find_device(self.env, device), dtype=dtype)

        return get_or_make(self, (self.env, device, dtype, "forecasts"), make)

    @property
    def num_parameters(self) -> int:
        """The number of trainable parameters."""
        return sum(parameter.numel() for parameter in self.parameters())

    @property
    def config(self) -> dict[str, object]:
        """The plain data from which `build_net` rebuilds the network.

        Its entries are the constructor's keywords, and two entries about the parts that were passed to the constructor:
        parts: the description of each registered part, by slot.
        custom: the class name of each other module, by slot.
        """
        return {
            "preset": self.preset,
            "tower_height": self.tower_height,
            "channels": None if self.tower_height is None else self.channels,  # the width of the default tower
            "size_free": self.size_free,
            "parts": self.parts,
            "custom": self.custom,
        }

    def __repr__(self) -> str:
        has_default_tower = self.tower_height is not None
        tower = [f"tower_height={self.tower_height}", f"channels={self.channels}"] if has_default_tower else []
        slots = [f"{slot}={type(getattr(self, slot)).__name__}" for slot in (*self.parts, *self.custom)]
        taught = f", taught by {self.taught_by}" if self.taught_by else ""
        return f"NeuralNet({', '.join([repr(self.env), *slots, *tower])}: {self.num_parameters:,} parameters{taught})"

    @property
    def digest(self) -> str:
        """A hash of the weights, which is stored with a network's figures, since they hold for these weights only."""
        return fingerprint(self.state_dict())

    @property
    def resign_threshold(self) -> float:
        """The value below which a player should resign, -1 .. 1, in that player's view; -1 stands for never.

        It is the text "resign_threshold" in `notes`, which the network's run calibrated, or -1 without this text.

        Raises:
            ModelError: if the text is not a number from -1 to 1.
        """
        note = self.notes.get("resign_threshold", "-1")
        try:
            return check_float("resign_threshold", float(note), -1, 1)
        except ValueError:
            got = f"got {shortened(note)!r}"
            raise ModelError(f"the network's note resign_threshold must be a number from -1 to 1, {got}") from None

    def svg(self, *, size: float | None = None) -> Svg:
        """Return a picture of the network's layers, blocks, inputs and outputs, as SVG.

        A notebook shows the picture; `.save(path)` writes it to a file.  size: the width in pixels.
        """
        return net_svg(self, size)

    def save(self, path: str | PathLike[str], extra: Mapping[str, str] | None = None) -> None:
        """Write weights and description to one safetensors file; after an error the file is unchanged.

        Args:
            path: the file.
            extra: further texts by name, which become `notes` of the loaded network.

        Raises:
            OSError: with the file's name, if the file cannot be written.
            ValueError: if the weights are not finite.
        """
        taught = {TAUGHT_BY: self.taught_by} if self.taught_by else {}
        model_files.write_network(path, self, {**(extra or {}), **taught})


def given_parts(
    env: GameEnv,
    modules: tuple[nn.Module | str | None, ...],
    preset: str | None,
    tower_height: int | None,
    channels: int | None,
    size_free: bool | None,
) -> dict[str, nn.Module | None]:
    """Return the parts, by slot, that a NeuralNet is given by itself, by name or by a preset; None for a default part.

    Args:
        modules: the arguments base_net, value and policy.
        preset, tower_height, channels, size_free: as in NeuralNet.

    Raises:
        TypeError or ValueError: if an argument is wrong, or if some do not go together.
    """
    slots: dict[str, Any] = dict(zip(parts.SLOTS, modules, strict=True))
    if isinstance(slots["base_net"], str) and slots["base_net"] in BASES:
        slots["base_net"] = BASES[slots["base_net"]](env.planes, channels, tower_height)
        # These sizes are used up.  Without this line the check of sizes below would refuse them next to a base_net.
        channels = tower_height = None
    for slot, module in slots.items():
        if module is not None and not isinstance(module, nn.Module):
            names = f" or {' or '.join(map(repr, BASES))}" if slot == "base_net" else ""
            raise TypeError(f"{slot} must be a torch.nn.Module{names}, got {module!r}")
    if preset is not None:
        check_choice("preset", preset, (*PRESETS, *OWN_PARTS))
    sized = tower_height is not None or channels is not None
    if slots["base_net"] is not None and (sized or preset is not None):
        raise ValueError("tower_height, channels and preset must be left out with a base_net: they size the tower")
    if size_free and not env.actions_are_points:
        raise ValueError(f"size_free needs a game whose actions are its points, got {env}")
    if preset not in OWN_PARTS:
        return slots
    if sized or size_free:
        raise ValueError(f"tower_height, channels and size_free must be left out with preset={preset!r}")
    return OWN_PARTS[preset](env) | {slot: module for slot, module in slots.items() if module is not None}


def cgzero_parts(env: GameEnv) -> dict[str, nn.Module]:
    """Return new parts with the layers of marchete/CGZero's network: one dense layer in the base, two in each head.

    CGZero's published code leaves the sizes open.  The sizes here give 19 831 weights on `OwareEnv(planes="one-hot")`,
    within CGZero's limit of 80 KB.
    """
    return {"base_net": DenseBase(env.planes, env.plane_shape, (48,)), **flat_heads(env, features=48, hidden=32)}


def cody2007_parts(env: GameEnv) -> dict[str, nn.Module]:
    """Return new parts with the layers of cody2007/alpha_go_zero_implementation (2018).

    The base has five 3x3 convolutions of 128 channels: one, then two residual blocks of two.  Each head has two dense
    layers.  Unlike the original, the policy head ends without a relu, and the value head has a relu between its layers.
    """
    tower = ResidualTower(env.planes, channels=128, height=2)
    return {"base_net": tower, **flat_heads(env, features=128 * prod(env.plane_shape), hidden=128)}


def flat_heads(env: GameEnv, features: int, hidden: int) -> dict[str, nn.Module]:
    """Return new heads that read all features at once, each with a hidden layer.

    Args:
        features: number of features of a position.
        hidden: size of each hidden layer.
    """
    return {"value": FlatValue(features, hidden), "policy": FlatPolicy(features, env.action_space, hidden)}


OWN_PARTS = {"cgzero": cgzero_parts, "cody2007": cody2007_parts}  # presets whose parts are not the default ones


def build_net(config: Mapping[str, Any], env: GameEnv, **modules: nn.Module | None) -> NeuralNet:
    """Return a network with new weights from a description.

    Args:
        config: from `NeuralNet.config`.
        modules: parts by slot.  For a slot that is missing or None, the described part or the default part is built.

    Raises:
        ValueError or TypeError: if the description is damaged or does not fit the game.
    """
    slots: dict[str, Any] = {slot: module for slot, module in modules.items() if module is not None}
    slots |= {slot: parts.build_part(part) for slot, part in config["parts"].items() if slot not in slots}
    # With a base of its own, the network has no default tower, of which these are the sizes.
    sizes = {} if "base_net" in slots else {name: config[name] for name in ("tower_height", "channels")}
    net = NeuralNet(env, size_free=bool(config["size_free"]), **slots, **sizes)
    # Set afterwards, since the constructor would build the preset's parts; None for a name that this version lacks.
    net.preset = config["preset"] if config["preset"] in (*PRESETS, *OWN_PARTS) else None
    return net


@checks_keywords()
@one_torch_thread()
def load_model(
    path: str | PathLike[str],
    env: GameEnv | None = None,
    *,
    base_net: nn.Module | None = None,
    value: nn.Module | None = None,
    policy: nn.Module | None = None,
) -> NeuralNet:
    """Load a network that `NeuralNet.save` wrote to a file; the result is on the CPU and in eval mode.

    No code in the file is executed.

    Args:
        path: the file, a run's folder for its latest network, or the name of a network that comes with the package:
            "7x7", "9x9", ….  "katago:FILE" is a network of KataGo, "katago:katrain" that of an installed package
            `katrain`: see docs/katago.md.
        env: the game to play; None for the game that was saved, if it comes with the package.  It must have the saved
            game, planes and actions; only options such as komi may differ, and if the network is size-free also the
            board.  With KataGo's file, the network's `env` is this game with KataGo's planes.
        base_net, value, policy: modules for the parts that are custom modules, of the classes that were saved; their
            weights are overwritten.  The file has only the names of these classes.

    Raises:
        ModelError: if the file is missing, damaged, not a network or of another game, and for modules that do not fit
            the file.
    """
    modules = {"base_net": base_net, "value": value, "policy": policy}
    path = model_files.model_file(path)
    if env is None:
        env = model_files.saved_game(path)
    check_env(env)
    of_katago = model_files.is_katago(path)
    if of_katago and is_go(env):
        env = env.replace(planes=KATAGO)
    tensors, description = model_files.read_weights(path)
    config = description["net"]
    model_files.check_game_fits(path, description, env)
    model_files.check_modules(path, config, modules)
    try:
        # `check_part` makes a part without memory for its weights, and raises if the description is damaged: otherwise
        # damaged sizes could fill the memory.  The parts themselves are needed only for KataGo's files.
        not_passed = {slot: part for slot, part in described_parts(config, env).items() if modules[slot] is None}
        weights = {slot: parts.strip_prefix(tensors, f"{slot}.") for slot in not_passed}
        weightless_parts = {slot: parts.check_part(part, weights[slot]) for slot, part in not_passed.items()}
        if of_katago:  # the tensors become the parts' weights, so that large ones are not in memory twice
            for slot, part in weightless_parts.items():
                part.load_state_dict(weights[slot], assign=True)
            modules.update(weightless_parts)
        net = build_net(config, env, **modules)  # other parts are built anew, with memory for their weights
    except (TypeError, ValueError, LookupError, ArithmeticError, RuntimeError) as error:  # the description is damaged
        raise ModelError(f"{path} cannot be rebuilt: {shortened(error)}") from error
    model_files.check_tensors(path, tensors, net.state_dict())
    net.load_state_dict(tensors)
    net.notes = model_files.read_notes(description)
    net.taught_by = net.notes.get(TAUGHT_BY, "")
    # The saved game, even if another one is played; a game of the user's own cannot be made from the file.
    net.measured_in = model_files.saved_game(path) if description["structure"].get("game") in GAMES else env
    try:
        _ = net.resign_threshold  # raises if the note is damaged
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    return net.eval()


def described_parts(config: Mapping[str, Any], env: GameEnv) -> dict[str, Any]:
    """Return the descriptions of a network's parts by slot, from `NeuralNet.config`.

    If the slot "base_net" has no description there, the base is the default tower, which is described here.
    """
    sizes = {"channels": config["channels"], "height": config["tower_height"], "pooled": bool(config["size_free"])}
    default_tower = {"part": ResidualTower.__name__, "planes": env.planes, **sizes}
    return {"base_net": default_tower, **config["parts"]}


# --- as plain data and arrays, which travel to other processes -------------------------------------


def net_to_arrays(net: NeuralNet) -> tuple[list[Any], dict[str, np.ndarray]]:
    """Return a network for `net_from_arrays` in another process: its game and `config` as JSON data, and its weights.

    Raises:
        ValueError: if the network has custom modules, whose classes another process may lack.
    """
    if net.custom:
        names = ", ".join(f"{slot}={name}" for slot, name in net.custom.items())
        raise ValueError(f"workers must be able to build the network: {names} must be a registered part")
    return [plain_game(net.env), net.config], {name: tensor.cpu().numpy() for name, tensor in net.state_dict().items()}


def net_from_arrays(plain: Sequence[Any], weights: Mapping[str, np.ndarray]) -> NeuralNet:
    """Return a network from what `net_to_arrays` returned; raise WorkerRefused for a game unknown to this program."""
    game, config = plain
    net = build_net(config, known_game(game))
    net.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    return net.eval()

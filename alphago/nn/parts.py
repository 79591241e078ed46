"""The three parts of a network: the checks of a part for a slot, and the descriptions of registered parts in files."""

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np
import torch
from torch import nn

from alphago.env.game import GameEnv
from alphago.nn.threads import one_torch_thread
from alphago.system.validation import plain_number

SLOTS = ("base_net", "value", "policy")
PARTS: dict[str, type[nn.Module]] = {}  # registered classes, by name
LARGEST_VALUE = 1.001  # of a value head: a rounded tanh may be slightly above 1
PartClass = TypeVar("PartClass", bound=type[nn.Module])


def register_part(part: PartClass) -> PartClass:
    """Register a module class by its name, so that a network with such a part can be loaded without passing the part.

    Use it as a decorator.  The constructor's arguments must be plain data or registered parts; each instance keeps them
    as `arguments`.

    Raises:
        ValueError: if another class is registered by this name.
    """
    known = PARTS.get(part.__name__, part)  # the class itself if its name is new
    if class_path(known) != class_path(part):
        raise ValueError(f"the name of a part must be new, got {class_path(part)} beside {class_path(known)}")
    PARTS[part.__name__] = part  # replaces the class if a notebook defines it again
    create: Any = part.__init__
    signature = inspect.signature(part)

    @wraps(create)
    def create_and_keep(self: Any, *values: object, **named: object) -> None:
        """Call the class's own constructor, then keep its arguments, defaults included, as `arguments`."""
        create(self, *values, **named)
        bound = signature.bind(*values, **named)
        bound.apply_defaults()
        self.arguments = {name: as_plain_data(value) for name, value in bound.arguments.items()}

    part.__init__ = create_and_keep  # type: ignore[method-assign]
    return part


def as_plain_data(value: object) -> object:
    """Convert lists and tuples to lists and NumPy's numbers to Python's; return other values unchanged."""
    if isinstance(value, (list, tuple)):
        return [as_plain_data(item) for item in value]
    return plain_number(value) if isinstance(value, np.generic) else value


def class_path(part: type[nn.Module]) -> str:
    """Return the name "module.Class" of a class, for messages and saved files."""
    return f"{part.__module__}.{part.__qualname__}"


# --- parts as plain data ---------------------------------------------------------------------------


def describe_part(module: nn.Module | None) -> dict[str, object] | None:
    """Return the class name (as "part") and arguments of a registered part as plain data; None for other modules.

    A part among the arguments is described in the same way; if it is not registered, the result is None too.
    """
    if module is None or PARTS.get(type(module).__name__) is not type(module):
        return None
    arguments: dict[str, Any] = dict(module.arguments)  # type: ignore[arg-type]
    for name, value in arguments.items():
        if isinstance(value, nn.Module):
            arguments[name] = describe_part(value)
            if arguments[name] is None:
                return None
    return {"part": type(module).__name__, **arguments}


def describe_slots(slots: Mapping[str, nn.Module | None]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return two dictionaries by slot: the descriptions of registered parts, and the class names of other modules."""
    descriptions = {slot: describe_part(module) for slot, module in slots.items()}
    parts = {slot: description for slot, description in descriptions.items() if description is not None}
    others = {slot: module for slot, module in slots.items() if module is not None and slot not in parts}
    return parts, {slot: class_path(type(module)) for slot, module in others.items()}


def build_part(description: Mapping[str, object]) -> nn.Module:
    """Return a new part from a description that `describe_part` returned.

    Raises:
        ValueError: for an unknown part.
        ValueError or TypeError: for wrong arguments.
    """
    arguments = {name: build_part(item) if isinstance(item, Mapping) else item for name, item in description.items()}
    name = arguments.pop("part", None)
    if name not in PARTS:
        raise ValueError(f"part must be {', '.join(sorted(PARTS))}, or registered by an imported module, got {name!r}")
    return PARTS[name](**arguments)


def check_part(description: Mapping[str, object], tensors: Mapping[str, torch.Tensor]) -> nn.Module:
    """Return the part that a description from a file describes, on torch's device "meta", which takes no memory.

    Args:
        tensors: the file's weights of this part, by name.

    Raises:
        ValueError: if the description is damaged, or the part needs weights that are not in `tensors` in these shapes.
    """
    if not isinstance(description, Mapping):
        raise ValueError(f"a part must be a table, got {description!r}")
    blocks, most = description.get("height"), len(tensors)  # the height of a tower is its number of blocks
    # Each block has at least one weight.  To build millions of blocks would take hours and all memory.
    if isinstance(blocks, int) and blocks > most:
        raise ValueError(f"height must be at most the {most} weights that the file holds for the part, got {blocks}")
    try:
        with torch.device("meta"):
            part = build_part(description)
            shapes = {name: list(tensor.shape) for name, tensor in part.state_dict().items()}
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError) as error:  # from wrong arguments
        raise ValueError(f"{type(error).__name__}: {error}") from error
    for name, shape in shapes.items():
        found = list(tensors[name].shape) if name in tensors else "none"
        if found != shape:
            raise ValueError(f"{description['part']}'s weight {name} must have shape {shape}, got {found}")
    return part


def strip_prefix(tensors: Mapping[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    """Return the tensors whose names begin with `prefix`, such as "value.", by their names without the prefix."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


# --- what fits a game ------------------------------------------------------------------------------


def game_structure(env: GameEnv) -> dict[str, Any]:
    """Return the facts about a game that determine the shapes of a network's weights, as plain data by name."""
    return {
        "game": env.name,
        "planes": env.planes,
        "plane_shape": list(env.plane_shape),
        "action_space": env.action_space,
    }


def fits_game(structure: Mapping[str, Any], env: GameEnv, size_free: bool) -> bool:
    """Return whether a network for a game of the given structure can play the game `env`.

    Args:
        structure: from `game_structure`.
        size_free: whether the network fits any board of its game.
    """
    own = game_structure(env)
    if not size_free:
        return structure == own

    def same_on_any_board(facts: Mapping[str, Any]) -> tuple[str, int, int]:
        """Return a game's name, its number of planes, and how many of its actions are passes, one or none."""
        return facts["game"], facts["planes"], facts["action_space"] - math.prod(facts["plane_shape"])

    return same_on_any_board(structure) == same_on_any_board(own)


@contextmanager
def eval_mode(module: nn.Module) -> Iterator[None]:
    """Put a module into eval mode within the `with` block, and restore the mode of each submodule afterwards."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode


def check_base(base: nn.Module, env: GameEnv, default_heads: bool) -> torch.Tensor:
    """Run a base on two all-zero positions and return the features [2, ...].

    Args:
        default_heads: whether one of the heads is a default one, which needs features [2, C, H, W] or [2, F].

    Raises:
        ValueError: if the features have another shape.
    """
    like = next(base.parameters(), torch.zeros(0))  # a base without weights gets float32 on the CPU
    planes = torch.zeros(2, env.planes, *env.plane_shape, device=like.device, dtype=like.dtype)  # `like` may be lazy
    if not default_heads:
        return run_part("base_net", base, planes, "[2, ...]", lambda shape: len(shape) > 0)
    expected = "[2, C, H, W] or [2, F] for the default heads"
    # `shape` is that of one position's features: (C, H, W) or (F,).
    return run_part("base_net", base, planes, expected, lambda shape: len(shape) in (1, 3))


def check_heads(value: nn.Module, policy: nn.Module, features: torch.Tensor, env: GameEnv) -> None:
    """Check a network's heads on features [2, ...].

    Probabilities in place of logits are refused, since their softmax would be nearly uniform.

    Raises:
        ValueError: unless the value head's output is [2, 1] or [2] in -1 .. 1, and the policy head's output is [2,
            action_space] and not probabilities.
    """
    values = run_part("value", value, features, "[2, 1] or [2]", lambda shape: shape in ((1,), ()))
    largest = values.abs().max()
    if largest > LARGEST_VALUE:
        raise ValueError(f"value: {class_path(type(value))} must give -1 to 1, got {largest:.3g}; end it with a tanh")
    expected = f"[2, {env.action_space}] (logits of {env})"
    run_policy = partial(run_part, "policy", policy, expected=expected, fits=lambda shape: shape == (env.action_space,))
    logits = run_policy(features)
    # Further rows, since logits of a single position might look like probabilities by chance.
    random_features = torch.randn(4, *features.shape[1:], generator=torch.Generator().manual_seed(0)).to(features)
    all_logits = torch.cat([logits, run_policy(random_features)])
    sums = all_logits.sum(dim=1)
    like_probabilities = bool((all_logits >= 0).all()) and torch.allclose(sums, torch.ones_like(sums), atol=1e-3)
    # A game with a single action cannot be checked: a logit that is 1 by chance would look like a probability.
    if isinstance(last_layer(policy), nn.Softmax) or (like_probabilities and env.action_space > 1):
        raise ValueError(
            f"policy: {class_path(type(policy))} must give logits, got probabilities: leave the softmax off at its end"
        )


def last_layer(module: nn.Module) -> nn.Module:
    """Return the last layer of nested nn.Sequential modules, or the module itself if it is no nn.Sequential."""
    while isinstance(module, nn.Sequential) and len(module):
        module = module[-1]
    return module


def run_part(
    slot: str, module: nn.Module, inputs: torch.Tensor, expected: str, fits: Callable[[torch.Size], bool]
) -> torch.Tensor:
    """Return the output of a part in eval mode, without gradients.

    Args:
        slot: the part's slot, for messages.
        inputs: [B, ...].
        expected: the expected shapes of the output, as text.
        fits: called with `shape` of an output [B, *shape]; returns whether it is one of the expected shapes.

    Raises:
        ValueError: if the part fails, or its output has another shape.
        TypeError: if its output is not a tensor.
    """
    path, shape = class_path(type(module)), list(inputs.shape)
    try:
        with eval_mode(module), torch.no_grad(), one_torch_thread():  # threads do not help with two positions
            output = module(inputs)
    except Exception as error:
        raise ValueError(f"{slot}: {path} failed on an input of shape {shape}: {error}") from error
    if not isinstance(output, torch.Tensor):
        raise TypeError(f"{slot}: {path} must give a torch.Tensor, got a {type(output).__name__}")
    if output.shape[:1] != inputs.shape[:1] or not fits(output.shape[1:]):
        got = list(output.shape)
        raise ValueError(f"{slot}: {path} must give shape {expected} for an input of shape {shape}, got {got}")
    return output

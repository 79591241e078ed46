"""Draw a network: its base, its heads, its inputs and its outputs."""

from typing import Any

from torch import nn

from alphago.drawing.network import Box, join_repeats, network_picture
from alphago.drawing.svg import Svg, to_svg
from alphago.nn.blocks import Block, ConvBn, PlainBlock, PreactivationBlock
from alphago.nn.parts import check_base
from alphago.nn.value import ForecastHead

BLOCK_NAMES = {PreactivationBlock: "preactivation block", PlainBlock: "plain block"}
MOST_BOXES = 14  # largest number of boxes for a base; the last one gives the number of further layers


def net_svg(net: Any, size: float | None = None) -> Svg:
    """Return the picture of a NeuralNet as SVG; size: the width in pixels."""
    env = net.env
    features = check_base(net.base_net, env, default_heads=False)
    base = join_repeats(layer_boxes(net.base_net))
    if len(base) > MOST_BOXES:
        base = [*base[: MOST_BOXES - 1], Box(f"… and {len(base) - MOST_BOXES + 1} more", "")]
    base.append(Box(f"features {list(features.shape[1:])}", "of each position"))
    inputs = Box(f"planes {[env.planes, *env.plane_shape]}", "what the player to move sees")
    meaning = "-1 .. 1 for the player to move"
    if isinstance(net.value, ForecastHead):
        meaning += "; score and ownership of the end"
    heads = [
        (head_box("policy head", net.policy), Box(f"policy [{env.action_space}]", "a probability for each action")),
        (head_box("value head", net.value), Box("value", meaning)),
    ]
    name = f"{env}: {net.num_parameters:,} parameters"
    return to_svg(network_picture(inputs, base, heads, name), size)


def layer_boxes(module: nn.Module) -> list[Box]:
    """Return a box for each layer or block of a base, in the order in which the module defines them."""
    boxes: list[Box] = []
    for child in module.children():
        if isinstance(child, (nn.Sequential, nn.ModuleList)) and not isinstance(child, ConvBn):
            boxes += layer_boxes(child)
        else:
            boxes.append(Box(layer_title(child), parameters_text(child)))
    return boxes or [Box(layer_title(module), parameters_text(module))]


def layer_title(module: nn.Module) -> str:
    """Return a short description of a layer or block, or its class name for a custom class."""
    if isinstance(module, ConvBn):
        return f"{layer_title(module[0])}, batch norm"
    if isinstance(module, nn.Conv2d):
        height, width = module.kernel_size
        return f"{height}×{width} convolution to {module.out_channels} channels"
    if isinstance(module, nn.Linear):
        return f"dense layer to {module.out_features}"
    if isinstance(module, Block):
        name = BLOCK_NAMES.get(type(module), "residual block")
        return f"{name} that sees the whole board" if module.pooled is not None else name
    if isinstance(module, nn.BatchNorm2d):
        return "batch norm"
    return type(module).__name__


def parameters_text(module: nn.Module) -> str:
    """Return the number of a module's parameters as text; "" if it has none."""
    count = sum(parameter.numel() for parameter in module.parameters())
    return f"{count:,} parameters" if count else ""


def head_box(name: str, head: nn.Module) -> Box:
    """Return the box of a value or policy head: the title `name`, then its class and number of parameters."""
    return Box(name, f"{type(head).__name__}, {parameters_text(head) or 'no parameters'}")

"""Draw a network: a box for each layer or block, from the planes to the predictions."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from torch import nn

from alphago.drawing.shapes import BLACK, BLUE, PALE, WHITE, Drawing, Rect, Shape, Style, arrow, paragraph
from alphago.drawing.svg import Svg, to_svg
from alphago.nn.blocks import Block, ConvBn, PlainBlock, PreactivationBlock
from alphago.nn.parts import check_base
from alphago.nn.value import ForecastHead

PICTURE_WIDTH, GAP, TEXT_SIZE = 640.0, 26.0, 14.0
BOX_WIDTH = 370.0  # width of a box of the base
PILE_STEP, MOST_BEHIND = 5, 3  # in a pile: the distance of neighbouring boxes, and the most boxes behind the front one
GREY = "#e9e9e6"
BLOCK_NAMES = {PreactivationBlock: "preactivation block", PlainBlock: "plain block"}
MOST_BOXES = 14  # largest number of boxes for a base; the last one gives the number of further layers


class Box(NamedTuple):
    """A layer or a block of a network.

    Attributes:
        title: what it is.
        detail: a smaller text below the title.
        times: how many equal layers or blocks follow each other.
    """

    title: str
    detail: str = ""
    times: int = 1


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
        # A ConvBn is a Sequential too, but gets one box.
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


def network_picture(inputs: Box, base: Sequence[Box], heads: Sequence[tuple[Box, Box]], label: str) -> Drawing:
    """Return a network as boxes: the inputs at the top, below them the base, then the heads side by side.

    Args:
        inputs: the box of the planes.
        base: the boxes between the planes and the heads.
        heads: pairs of a head's box and the box of what it predicts.
        label: the title of the picture.
    """
    middle = PICTURE_WIDTH / 2
    heading = paragraph(label, middle, y=24.0, width=PICTURE_WIDTH - 40, size=1.15 * TEXT_SIZE)
    shapes: list[Shape] = [*heading]
    top = heading[-1].y + 1.6 * TEXT_SIZE
    y = add_box(shapes, inputs, middle, top, BOX_WIDTH, GREY)  # the lower edge of the last box
    for box in base:
        shapes += arrow(middle, y, middle, y + GAP, Style(stroke=BLACK, width=1.5))
        y = add_box(shapes, box, middle, y + GAP, BOX_WIDTH, PALE)
    step = PICTURE_WIDTH / max(len(heads), 1)  # from the middle of a head to that of the next
    width = min(BOX_WIDTH, step - 24)
    bottoms = []
    for i, (head, outputs) in enumerate(heads):
        x = step * (i + 0.5)
        # The arrows leave the base's last box side by side.  Neighbouring heads are a `step` apart, and their arrows
        # begin 0.4 times BOX_WIDTH apart.
        begin_x = middle + 0.4 * (x - middle) * BOX_WIDTH / step
        shapes += arrow(begin_x, y, x, y + 1.6 * GAP, Style(stroke=BLACK, width=1.5))
        head_bottom = add_box(shapes, head, x, y + 1.6 * GAP, width, PALE)
        shapes += arrow(x, head_bottom, x, head_bottom + GAP, Style(stroke=BLACK, width=1.5))
        bottoms.append(add_box(shapes, outputs, x, head_bottom + GAP, width, GREY))
    height = max([y, *bottoms]) + GAP
    background = Rect(0, 0, PICTURE_WIDTH, height, Style(WHITE))
    return Drawing(PICTURE_WIDTH, height, ((background,), tuple(shapes)), label, shown=PICTURE_WIDTH)


def add_box(shapes: list[Shape], box: Box, x: float, top: float, width: float, fill: str) -> float:
    """Add the shapes of a box to `shapes`, and return the y of the box's lower edge.

    Args:
        box: a box that occurs several times is drawn as a pile.
        x: the box's middle.
        top: the y of its upper edge.
        width: its width.
        fill: its colour, PALE for a layer or block, GREY for an input or output.
    """
    times = f"{box.times} × " if box.times > 1 else ""
    inside = width - 16  # between the box's edges, with room on both sides
    title = paragraph(times + box.title, x, top + 1.25 * TEXT_SIZE, width=inside, size=TEXT_SIZE, bold=True)
    detail = paragraph(box.detail, x, title[-1].y + 1.45 * TEXT_SIZE, width=inside, size=0.85 * TEXT_SIZE)
    # Below the last line; a box without a detail ends with its title.
    bottom = (detail or title)[-1].y + 1.1 * TEXT_SIZE
    boxes_behind = min(box.times - 1, MOST_BEHIND)
    for behind in range(boxes_behind, -1, -1):  # the front box last, so that it covers the others
        style = Style(fill, BLUE if fill == PALE else BLACK, 1.4)
        shift = PILE_STEP * behind
        shapes.append(Rect(x - width / 2 + shift, top + shift, width, bottom - top, style, corner=6))
    shapes += title + detail
    return bottom + PILE_STEP * boxes_behind


def join_repeats(boxes: Sequence[Box]) -> list[Box]:
    """Return the boxes, with each repetition joined into one box, whose `times` counts it.

    A repetition is a box that occurs at least twice in a row, or two boxes that occur at least three times in a row.
    """
    joined: list[Box] = []
    begin = 0
    while begin < len(boxes):
        # The first repetition found is taken: of one box, at least twice; of two boxes, at least three times; or else
        # a single box, which occurs at least once.
        for period, least in ((1, 2), (2, 3), (1, 1)):
            part = boxes[begin : begin + period]
            times = 1
            while boxes[begin + times * period : begin + (times + 1) * period] == part:  # the next boxes are the same
                times += 1
            if times >= least:
                break
        joined.append(part[0] if times == 1 else repeated_box(part, times))
        begin += period * times
    return joined


def repeated_box(part: Sequence[Box], times: int) -> Box:
    """Return one box that stands for the sequence of boxes `part`, which is repeated `times` times."""
    title = part[0].title if len(part) == 1 else f"({', '.join(box.title for box in part)})"
    details = dict.fromkeys(box.detail for box in part if box.detail)
    return Box(title, "; ".join(f"{detail} each" for detail in details), times)

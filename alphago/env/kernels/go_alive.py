"""Pass-alive chains and points by Benson's algorithm: safe even if their side never plays again.

Source: D. B. Benson, "Life in the Game of Go", Information Sciences 10 (1976).  A region of a colour is a connected set
of points without stones of this colour.  It is vital to a chain if all its empty points are liberties of the chain. If
suicide is allowed, which Benson does not consider, all points of the region must be adjacent to the chain, since enemy
stones there may commit suicide and leave empty points.  Chains with fewer than two vital regions are struck out, then
the regions that touch a struck-out chain; this is repeated until nothing changes.  The chains left are pass-alive, and
so are the points of the regions vital to them.

`scratch` is int32 [scratch_words(size)].  It has PARTS parts of as many words as the bordered board has points:
    the points of all regions, concatenated
    BEGINS: the index at which each region begins, and a last one, at which all end
    IS_OPEN: for each region whether it is open, which means not struck out
    MARKS: for each point whether it is in a region already
    COUNTS: for each chain the number of its vital regions, at the index of the chain's head
"""

from alphago.env.kernels import go_row as layout
from alphago.env.kernels.go_row import action_of, bordered_points, cell, neighbour, point_of
from alphago.system.kernels.jit import kernel, load, part, store

VITAL = 2  # vital regions that a pass-alive chain needs
PARTS, BEGINS, IS_OPEN, MARKS, COUNTS = 5, 1, 2, 3, 4  # parts of the scratch, see the module


def scratch_words(size):
    """Return the number of scratch words for a board of this size."""
    return PARTS * bordered_points(size)


@part
def part_words(row):
    """Return the number of words of a part of the scratch: the number of bordered points, as `bordered_points`."""
    return (load(row, layout.SIZE) + 1) * (load(row, layout.SIZE) + 2) + 1


@part
def append(row, colour, point, end, scratch, at_marks):
    """Append a point to the points scratch[:end], and return the new end.

    A point that is there already, a stone of `colour` and the border are not appended.

    Args:
        at_marks: index of the part of the scratch that says which points are there.
    """
    point_colour = load(row, cell(point) + layout.COLOUR)
    if point_colour == colour or point_colour == layout.BORDER or load(scratch, at_marks + point) != 0:
        return end
    store(scratch, at_marks + point, 1)
    store(scratch, end, point)
    return end + 1


@part
def divide(row, colour, scratch, at_begins, at_marks):
    """Divide all points without a stone of `colour` into regions; return the number of regions.

    The regions' points are written to `scratch` from index 0 on, and from `at_begins` on where each region begins.
    From `at_marks` on, `append` marks each bordered point that is in a region already, and skips marked points.
    """
    size = load(row, layout.SIZE)
    for i in range(part_words(row)):
        store(scratch, at_marks + i, 0)
    regions = end = visited = 0  # the neighbours of the points before index `visited` have been appended
    for action in range(size * size):
        end = append(row, colour, point_of(row, action), end, scratch, at_marks)
        if visited < end:  # the point was appended, so it is the first of a region
            store(scratch, at_begins + regions, visited)
            regions += 1
        while visited < end:
            for side in range(4):
                near = neighbour(load(scratch, visited), side, size + 1)
                end = append(row, colour, near, end, scratch, at_marks)
            visited += 1
    store(scratch, at_begins + regions, end)
    return regions


@part
def touches(row, point, colour, head):
    """Return whether the point is adjacent to the chain of `colour` with this head point."""
    stride = load(row, layout.SIZE) + 1
    for side in range(4):
        at = cell(neighbour(point, side, stride))
        if load(row, at + layout.COLOUR) == colour and load(row, at + layout.HEAD) == head:
            return True
    return False


@part
def has_to_touch(row, point):
    """Return whether a chain must touch this point of a region for the region to be vital to the chain.

    It must touch all empty points, and if suicide is allowed the enemy's stones too.
    """
    return load(row, layout.SUICIDE) != 0 or load(row, cell(point) + layout.COLOUR) == layout.EMPTY


@part
def is_vital(row, colour, head, scratch, begin, end):
    """Return whether the region scratch[begin:end] is vital to the chain of `colour` with this head point.

    It is if the chain touches each point of the region that `has_to_touch` names, so that no enemy can live there.
    """
    for i in range(begin, end):
        point = load(scratch, i)
        if has_to_touch(row, point) and not touches(row, point, colour, head):
            return False
    return True


@part
def count_vital(row, colour, scratch, begin, end, at_counts):
    """Add one to the count of each chain of `colour` to which the region scratch[begin:end] is vital.

    Returns:
        The number of these chains.  The count of a chain is scratch[at_counts + its head point].
    """
    first_needed = begin  # becomes the index of the region's first point that a chain must touch
    while first_needed < end and not has_to_touch(row, load(scratch, first_needed)):
        first_needed += 1
    if first_needed == end:  # never on a legal board, where every region has an empty point
        return 0
    # The region is vital only to chains that touch this point, so the chains beside it are the only candidates.
    point = load(scratch, first_needed)
    stride = load(row, layout.SIZE) + 1
    count = 0
    seen1 = seen2 = seen3 = 0  # heads of the chains found on earlier sides; 0 is no head
    for side in range(4):
        at = cell(neighbour(point, side, stride))
        if load(row, at + layout.COLOUR) == colour:
            head = load(row, at + layout.HEAD)
            if head != seen1 and head != seen2 and head != seen3:
                seen3 = seen2
                seen2 = seen1
                seen1 = head
                if is_vital(row, colour, head, scratch, first_needed, end):
                    store(scratch, at_counts + head, load(scratch, at_counts + head) + 1)
                    count += 1
    return count


@part
def touches_struck_out(row, colour, scratch, begin, end, at_counts):
    """Return whether the region scratch[begin:end] touches a chain that counts as struck out.

    A chain is struck out if fewer than VITAL (2) open regions are vital to it.
    """
    stride = load(row, layout.SIZE) + 1
    for i in range(begin, end):
        point = load(scratch, i)
        for side in range(4):
            at = cell(neighbour(point, side, stride))
            if load(row, at + layout.COLOUR) == colour:
                if load(scratch, at_counts + load(row, at + layout.HEAD)) < VITAL:
                    return True
    return False


@part
def strike_out_regions(row, colour, regions, scratch, at_begins, at_open, at_counts):
    """Run one round: count the vital regions of each chain, and strike out the regions that touch a chain with too few.

    Only open regions count, which are the ones not yet struck out.

    Args:
        at_begins, at_open, at_counts: indices into `scratch`, see the module.

    Returns:
        Whether a region was struck out.
    """
    for i in range(part_words(row)):
        store(scratch, at_counts + i, 0)
    for region in range(regions):
        if load(scratch, at_open + region) != 0:
            begin = load(scratch, at_begins + region)
            count_vital(row, colour, scratch, begin, load(scratch, at_begins + region + 1), at_counts)
    has_struck_out = False
    for region in range(regions):
        if load(scratch, at_open + region) != 0:
            begin = load(scratch, at_begins + region)
            if touches_struck_out(row, colour, scratch, begin, load(scratch, at_begins + region + 1), at_counts):
                store(scratch, at_open + region, 0)
                has_struck_out = True
    return has_struck_out


@part
def mark_alive_chains(row, colour, value, scratch, out, at):
    """Find the pass-alive chains of `colour` and write `value` at their stones; return the number of regions.

    Callers also read `scratch`, see the module.  At a chain's head its part COUNTS has the number of the chain's
    vital regions: VITAL (2) or more if the chain is pass-alive.  The part IS_OPEN says for each region whether all
    chains of `colour` that the region touches are pass-alive.

    Args:
        out, at: an array that holds the board from index `at` on.
    """
    size = load(row, layout.SIZE)
    words = part_words(row)
    at_begins = BEGINS * words
    at_open = IS_OPEN * words
    at_counts = COUNTS * words
    regions = divide(row, colour, scratch, at_begins, MARKS * words)
    for region in range(regions):
        store(scratch, at_open + region, 1)
    while strike_out_regions(row, colour, regions, scratch, at_begins, at_open, at_counts):
        pass
    for action in range(size * size):
        at_cell = cell(point_of(row, action))
        if load(row, at_cell + layout.COLOUR) == colour:
            if load(scratch, at_counts + load(row, at_cell + layout.HEAD)) >= VITAL:
                store(out, at + action, value)
    return regions


@part
def mark_alive(row, colour, value, scratch, out):
    """Write `value` at the pass-alive stones of `colour` and at the points of the regions vital to them.

    Args:
        scratch: see the module, overwritten.
        out: N * N numbers, one for each point.
    """
    words = part_words(row)
    regions = mark_alive_chains(row, colour, value, scratch, out, 0)  # also fills `scratch`
    for region in range(regions):
        begin = load(scratch, BEGINS * words + region)
        end = load(scratch, BEGINS * words + region + 1)
        is_open = load(scratch, IS_OPEN * words + region) != 0
        # count_vital also adds to the counts, which are no longer needed.
        if is_open and count_vital(row, colour, scratch, begin, end, COUNTS * words) > 0:
            for i in range(begin, end):
                store(out, action_of(row, load(scratch, i)), value)


@kernel
def pass_alive_batch(rows, slots, scratch, out):
    """Write the pass-alive points of each slot, int8 [n, N * N]: 1 the mover's, -1 the other side's, 0 all others.

    Args:
        scratch: see the module, overwritten.
    """
    for i in range(slots.shape[0]):
        row = rows[slots[i]]
        points = out[i]
        for action in range(load(row, layout.SIZE) * load(row, layout.SIZE)):
            store(points, action, 0)
        for colour in range(layout.BLACK, layout.WHITE + 1):
            mark_alive(row, colour, 1 if colour == load(row, layout.TO_PLAY) else -1, scratch, points)

"""Kernels of the replay memory: moves of games and positions drawn, value targets, and symmetries."""

from alphago.system.kernels.jit import kernel


@kernel
def gather_paths(steps, begins, lengths, out):
    """Write steps[begins[i] : begins[i] + lengths[i]] to the beginning of row i of `out`, for each i.

    Args:
        steps: int32 [P], the moves of all games, one game after the other.
        begins: int64 [n], the index of the first move of each position's game.
        lengths: int32 [n], the number of moves before each position.
        out: int32 [n, at least the greatest length].
    """
    for i in range(begins.shape[0]):
        for k in range(lengths[i]):
            out[i, k] = steps[begins[i] + k]


@kernel
def find_drawn(cumulative, begins, counts, drawn, out):
    """Find the entry that each random number selects, by binary search.

    It is the first entry of the number's range whose cumulative sum is greater than the number.

    Args:
        cumulative: float64 [S], cumulative sums of weights, which begin anew with each range.
        begins: int64 [n], the index at which each number's range begins.
        counts: int64 [n], the number of entries in each range, at least one.
        drawn: float64 [n], from 0 to the last sum of the range.  If rounding makes a number greater, it selects the
            last entry.
        out: int64 [n], the selected indices in `cumulative`.
    """
    for i in range(begins.shape[0]):
        low = begins[i]
        high = low + counts[i] - 1
        while low < high:
            middle = (low + high) // 2
            if cumulative[middle] <= drawn[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low


@kernel
def lambda_returns(outcome, values, movers, search_share, out):
    """Write the targets of `alphago.training.targets.lambda_returns` to `out`, float32 [T].

    Args:
        outcome: the result in Black's view.
        values: float32 [T], the search values in the movers' views.
        movers: int8 [T], 1 Black, -1 White.
        search_share: 0 .. 1, the share of later search values.
    """
    black_value = outcome
    for i in range(out.shape[0]):
        ply = out.shape[0] - 1 - i
        out[ply] = black_value * movers[ply]
        # Now the lambda-return of the ply before this one, in Black's view.
        black_value += search_share * (values[ply] * movers[ply] - black_value)


@kernel
def turn_rows(rows, symmetries, indices, before):
    """Replace rows[i, j, k] by the old rows[i, j, indices[symmetries[i], k]], for each i, j and k.

    Args:
        rows: [n, m, p].
        symmetries: int64 [n]; 0 is the identity.
        indices: int64 [S, p], for each symmetry where each new entry comes from, see `alphago.env.symmetry`.
        before: [p] of the rows' dtype, scratch space, overwritten.
    """
    for i in range(rows.shape[0]):
        symmetry = symmetries[i]
        if symmetry == 0:
            continue
        for j in range(rows.shape[1]):
            for k in range(rows.shape[2]):
                before[k] = rows[i, j, k]
            for k in range(rows.shape[2]):
                rows[i, j, k] = before[indices[symmetry, k]]

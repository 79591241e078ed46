"""What samples need of games: positions among many games whose numbers lie in columns, value targets, symmetries."""

from alphago.system.kernels.jit import kernel


@kernel
def gather_paths(steps, begins, lengths, out):
    """Write steps[begins[i] : begins[i] + lengths[i]] to the first places of row i of `out`, for each i.

    Args:
        steps: int32 [P].
        begins: int64 [n].
        lengths: int32 [n].
        out: int32 [n, at least the greatest length].
    """
    for i in range(begins.shape[0]):
        for k in range(lengths[i]):
            out[i, k] = steps[begins[i] + k]


@kernel
def find_drawn(cumulative, begins, counts, drawn, out):
    """Write to `out` the place in `cumulative` that each number drawn selects: the first with a greater sum.

    Args:
        cumulative: float64 [S], the sums of the weights up to each place, which begin anew with each range.
        begins, counts: int64 [n], a range of places for each number, of at least one place.
        drawn: float64 [n], from 0 to the last sum of its range; if rounding makes it greater, the last place is
            selected.
        out: int64 [n].
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
        search_share: as there.
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
        indices: int64 [S, p], see `alphago.env.symmetry`.
        before: [p] of the rows' dtype, overwritten.
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

"""Symmetries of many boards at once."""

from alphago.system.kernels.jit import kernel


@kernel
def turn_rows(rows, symmetries, indices, before):
    """Replace rows[i, j, k] by the old rows[i, j, indices[symmetries[i], k]], for each i, j and k.

    rows: [n, m, p].  symmetries: int64 [n]; 0 is the identity.  indices: int64 [S, p], see `alphago.env.symmetry`.
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

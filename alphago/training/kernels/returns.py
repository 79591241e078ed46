"""Value targets of a game's plies."""

from alphago.system.kernels.jit import kernel


@kernel
def lambda_returns(outcome, values, movers, search_share, out):
    """Write the targets of `alphago.training.targets.lambda_returns` to `out`, float32 [T].

    outcome: the result in Black's view.  values: float32 [T], the search values in the movers' views.
    movers: int8 [T], 1 Black, -1 White.  search_share: as there.
    """
    black_value = outcome
    for i in range(out.shape[0]):
        ply = out.shape[0] - 1 - i
        out[ply] = black_value * movers[ply]
        # Now the lambda-return of the ply before this one, in Black's view.
        black_value += search_share * (values[ply] * movers[ply] - black_value)

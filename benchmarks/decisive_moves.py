"""What looking for moves that win at once costs and brings.

    python benchmarks/decisive_moves.py reversi --opponents alphabeta:4 alphabeta:6 --readouts 400 --games 200

*Cost*: the time to look, beside the time of the network's evaluation, on positions of random games.  *Matches*: the
same player against the same opponents from the same openings, with and without `SearchSettings.decisive_moves`.
"""

import argparse
from typing import Any

import numpy as np
from figures import rate, stamp

from alphago import GameEnv, NeuralNet, Puct, evaluate, load_model
from alphago.env.games import selfplay_game
from alphago.nn.threads import one_torch_thread

GAMES = 64  # of a batch of positions


def positions(env: GameEnv, seed: int = 0) -> Any:
    """A batch of positions after a different number of random moves each."""
    random, batch, slots = np.random.default_rng(seed), env.new_batch(GAMES), np.arange(GAMES)
    left = random.integers(0, int(selfplay_game(env).usual_length), GAMES)
    for ply in range(int(left.max())):
        mask = batch.legal_mask(slots, np.empty((GAMES, env.action_space), np.bool_))
        going = np.flatnonzero((left > ply) & mask.any(axis=1))
        actions = (random.random(mask.shape) * mask)[going].argmax(axis=1)
        batch.play(going, actions.astype(np.int32))
    return batch


def cost(env: GameEnv, net: NeuralNet, seconds: float) -> str:
    """Microseconds of each position to look for a move and to evaluate it, on one thread."""
    batch, slots, evaluator = positions(env), np.arange(GAMES), net.evaluator()
    going = slots[~batch.is_over(slots, np.empty(GAMES, np.bool_))]
    found = np.empty(len(going), np.int32)
    priors, values = np.empty((len(going), env.action_space), np.float32), np.empty(len(going), np.float32)

    def look() -> int:
        batch.decisive_moves(going, found)
        return len(going)

    def ask() -> int:
        evaluator.evaluate(batch, going, priors, values)
        return len(going)

    look(), ask()
    with one_torch_thread():
        looking, asking = 1e6 / rate(look, seconds), 1e6 / rate(ask, seconds)
    share = (found >= 0).mean()
    return (
        f"looking {looking:.2f} us a position, the network {asking:.1f} us: {looking / asking:.3f}; "
        f"{share:.0%} of {len(going)} random positions have such a move"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("net", metavar="MODEL", help="the network, such as reversi")
    parser.add_argument("--opponents", nargs="+", default=["alphabeta:6"], metavar="PLAYER")
    parser.add_argument("--readouts", type=int, default=400, metavar="N", help="simulations a move (400)")
    parser.add_argument("--games", type=int, default=200, metavar="N", help="of each match (200)")
    parser.add_argument("--random-opening", type=int, default=6, metavar="N", help="random plies first (6)")
    parser.add_argument("--seconds", type=float, default=2.0, metavar="S", help="of each timing (2)")
    options = parser.parse_args()
    net = load_model(options.net)
    print(stamp())
    print(cost(net.env, net, options.seconds), flush=True)
    for opponent in options.opponents:
        for decisive in (True, False):
            match = evaluate(
                net.env,
                net,
                opponent,
                options.games,
                options.readouts,
                search=Puct(decisive_moves=decisive),
                random_opening=options.random_opening,
            )
            plies = [len(moves) for moves, outcome in zip(match.games, match.outcomes, strict=True) if outcome < 0]
            lost = f"; the losses have {min(plies)} to {max(plies)} plies" if plies else ""
            print(f"{'with' if decisive else 'without'}, against {opponent}: {match}{lost}", flush=True)


if __name__ == "__main__":
    main()

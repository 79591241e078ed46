"""A digest of a network's outputs, which two machines compare to see whether they compute alike."""

import hashlib

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator, evaluate_all
from alphago.workers.work import WorkerRefused

CHECKED = 16  # positions on which two machines' networks are compared


def check_network(env: GameEnv, evaluator: Evaluator, expected: str) -> None:
    """Raise WorkerRefused unless the network computes the same on this machine as on the run's machine.

    Args:
        expected: the `network_digest` that the run's machine computed.
    """
    if network_digest(env, evaluator) != expected:
        dtype = getattr(evaluator, "dtype", "network")
        raise WorkerRefused(
            f"this worker must compute the network as the run's machine does, bit for bit: its {dtype} gives "
            "other numbers on this processor (synchronous runs need workers of one kind, or selfplay_dtype='float32')"
        )


def network_digest(env: GameEnv, evaluator: Evaluator) -> str:
    """Return a hash of all bits of a network's outputs for a few positions of random games."""
    generator = np.random.default_rng(1)
    slots, batch = np.arange(CHECKED), env.new_batch(CHECKED)
    for ply in range(CHECKED):
        playing = slots[ply:]  # game i has i + 1 plies, so that the positions differ in length
        playing = playing[~batch.is_over(playing, np.empty(len(playing), np.bool_))]
        legal = batch.legal_mask(playing, np.empty((len(playing), env.action_space), np.bool_))
        random_moves = (generator.random(legal.shape) * legal).argmax(axis=1)  # illegal moves have the number 0
        batch.play(playing, random_moves.astype(np.int32))
    outputs = evaluate_all(evaluator, batch, points=0)  # 0: without scores and ownership
    return hashlib.blake2b(outputs.priors.tobytes() + outputs.values.tobytes(), digest_size=16).hexdigest()

"""CGZero (marchete 2020, github.com/marchete/CGZero): what its recipe has beside AlphaZero's, as parts of a run.

The preset "cgzero" is the whole of it.  Each part can be used alone: `train(env, memory=Pool(50_000))`.
"""

from alphago.training.cgzero.cgzero_search import CGZeroPuct
from alphago.training.cgzero.champions import Champions
from alphago.training.cgzero.lineup import CGZeroGames
from alphago.training.cgzero.mixed_targets import MixedTargets
from alphago.training.cgzero.pool import Pool

__all__ = ["CGZeroGames", "CGZeroPuct", "Champions", "MixedTargets", "Pool"]

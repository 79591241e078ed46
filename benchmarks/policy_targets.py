"""What a policy learns from searches of different settings, as a stronger search judges it.

Positions are drawn from games of self-play by NET.  The value of each legal action there is what JUDGE finds in a
search of its own after it.  A policy that is trained on a search's results learns their mean over chance, so for every
setting the positions are searched several times, each with other noise, and of the mean of the improved policies the
table says

    lost      how much less its actions are worth than the best one, in the mean over the policy (values are -1 .. 1)
    best      the same of its most probable action alone
    entropy   in nats
    chance    the divergence of a single result from that mean, in nats: what a network cannot learn

and in brackets how far that is from the first setting, with twice the standard error.  Less is better.  A setting
is READOUTS/CONSIDERED/C_SCALE; its cost is its readouts.
"""

import argparse

import numpy as np

from alphago import Gumbel, load_model, selfplay
from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.env.games import selfplay_game
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.search import Search
from alphago.nn.inference.hardware import processor
from alphago.system.settings import make
from alphago.training.recipes import recipe_for
from alphago.training.settings.run_settings import RunSettings

SETTINGS = "16/8/1 6/6/1 8/8/1 8/8/2 12/12/1 12/12/2 16/16/1 16/16/2 24/12/1 32/16/1 64/16/1"
JUDGED_AT_ONCE = 512  # positions
ONE = np.zeros(1, np.int64)


def drawn_positions(env: GameEnv, evaluator: Evaluator, count: int) -> GameBatch:
    """Positions that were searched in self-play and are not decided, one from each game."""
    recipe = vars(make(RunSettings, recipe_for(env).settings).completed("cpu").selfplay)
    records = selfplay(env, evaluator, num_games=2 * count, seed=0, **recipe)
    generator = np.random.default_rng(0)
    batch = env.new_batch(count)
    found = 0
    for record in records:
        plies = np.flatnonzero((record.weights > 0) & (np.abs(record.values) < 0.9))
        if len(plies) and found < count:
            position = record.position(env, int(generator.choice(plies)))
            batch.copy(ONE, np.array([found]), of=position.batch)
            found += 1
    if found < count:
        raise ValueError(f"{len(records)} games had only {found} positions to draw, wanted {count}")
    return batch


def judged(env: GameEnv, evaluator: Evaluator, positions: GameBatch, count: int, readouts: int) -> np.ndarray:
    """What each legal action is worth to its mover, float64 [count, A]; nan for illegal ones."""
    legal = positions.legal_mask(np.arange(count), np.empty((count, env.action_space), np.bool_))
    values = np.full(legal.shape, np.nan)
    which, actions = np.nonzero(legal)
    for begin in range(0, len(which), JUDGED_AT_ONCE):
        part = slice(begin, begin + JUDGED_AT_ONCE)
        games = len(which[part])
        search = Search(env, evaluator, games, Gumbel())
        slots = np.arange(games)
        search.batch.copy(which[part], slots, of=positions)
        movers = search.batch.to_play(slots, np.empty(games, np.int8))
        search.batch.play(slots, actions[part].astype(np.int32))
        over = search.batch.is_over(slots, np.empty(games, np.bool_))
        sides = movers * search.batch.to_play(slots, np.empty(games, np.int8))
        found = search.batch.outcome(slots, np.empty(games, np.float32))
        search.run(np.where(over, 0, readouts).astype(np.int32))
        found[~over] = search.root_values(slots[~over])
        values[which[part], actions[part]] = sides * found
    return values


def searched(env: GameEnv, evaluator: Evaluator, positions: GameBatch, text: str, shape: tuple[int, int]) -> np.ndarray:
    """Improved policies by the settings that `text` names, float32 [repeats, count, A]; shape: repeats, count."""
    repeats, count = shape
    readouts, considered, c_scale = text.split("/")
    settings = Gumbel(considered=int(considered), c_scale=float(c_scale))
    games = np.arange(count)
    generator = np.random.default_rng(1)
    found = []
    for _ in range(repeats):
        search = Search(env, evaluator, count, settings)
        search.batch.copy(games, games, of=positions)
        search.rule.noise[:] = generator.gumbel(size=search.rule.noise.shape)
        search.run(np.full(count, int(readouts), np.int32))
        found.append(search.policies(games))
    return np.stack(found)


def measured(policies: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, float, float]:
    """(lost, best) [2, count], entropy and chance of policies [repeats, count, A]; see above."""
    mean = policies.mean(axis=0)
    best, known = np.nanmax(values, axis=1), np.nan_to_num(values)
    lost = best - (mean * known).sum(axis=1)
    top = best - known[np.arange(len(mean)), mean.argmax(axis=1)]
    entropy = -(mean * np.log(np.maximum(mean, 1e-12))).sum(axis=1).mean()
    ratio = np.maximum(policies, 1e-12) / np.maximum(mean, 1e-12)
    return np.stack([lost, top]), float(entropy), float((policies * np.log(ratio)).sum(axis=2).mean())


def tell(name: str, policies: np.ndarray, values: np.ndarray, first: np.ndarray | None) -> np.ndarray:
    """Prints a row of the table, and returns (lost, best) [2, count]."""
    each, entropy, chance = measured(policies, values)
    off = each - (each if first is None else first)
    wide = 2 * off.std(axis=1) / off.shape[1] ** 0.5
    told = [f"{each[i].mean():.4f} ({off[i].mean():+.4f} +- {wide[i]:.4f})" for i in (0, 1)]
    print(f"{name:<12}{told[0]:>28}{told[1]:>28}{entropy:>12.3f}{chance:>9.3f}", flush=True)
    return each


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--net", default="9x9", help="the network that searches, as load_model takes it (9x9)")
    parser.add_argument("--judge", default="13x13", help="the network that judges (13x13)")
    parser.add_argument("--size", type=int, default=9, help="the board (9)")
    parser.add_argument("--positions", type=int, default=400, help="how many (400)")
    parser.add_argument("--repeats", type=int, default=4, help="searches of each (4)")
    parser.add_argument("--readouts", type=int, default=48, help="of the judge after each action (48)")
    parser.add_argument("--settings", nargs="+", default=SETTINGS, help=f"READOUTS/CONSIDERED/C_SCALE ({SETTINGS})")
    options = parser.parse_args()
    count = options.positions
    board = recipe_for(load_model(options.net).env).make_env(options.size)
    env = selfplay_game(board).variant()
    net, judge = (load_model(name, board).evaluator() for name in (options.net, options.judge))
    positions = drawn_positions(env, net, count)
    values = judged(env, judge, positions, count, options.readouts)
    print(f"{processor()}; {board.summary}, {count} positions of {options.net}'s games, judged by {options.judge}")
    print(f"{'':<12}{'lost':>28}{'best':>28}{'entropy':>12}{'chance':>9}")
    root = Search(env, net, count, Gumbel())
    games = np.arange(count)
    root.batch.copy(games, games, of=positions)
    root.expand_roots(games)
    tell("policy", root.priors(games)[None], values, None)
    first: np.ndarray | None = None
    for text in options.settings:
        found = tell(text, searched(env, net, positions, text, (options.repeats, count)), values, first)
        first = found if first is None else first


if __name__ == "__main__":
    main()

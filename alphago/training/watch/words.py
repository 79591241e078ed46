"""The titles and labels of curves: some differ between runs of self-play and supervised runs (on given games)."""

from collections.abc import Sequence

from alphago.training.history import History

# By the words for self-play: those for given games, and those where runs of both kinds share a figure.
WORDS = {
    "games of self-play": ("given games", "games"),
    "positions of self-play": ("positions of given games", "positions"),
    "Results of self-play": ("Results of the given games", "Results of the games"),
    "Speed of self-play": ("Speed of reading games", "Speed of playing or reading games"),
    "Self-play's share of the time": (
        "Share of the time for reading games", "Share of the time for playing or reading games"
    ),
    "as in search": ("as played", "as in search or as played"),
    "new games": ("games held out", "new games or games held out"),
}  # fmt: skip


def in_words_of(histories: Sequence[History], text: str) -> str:
    """Return `text`, a title or label for runs of self-play, reworded if some or all of the runs are supervised."""
    given = [history.is_supervised for history in histories]
    if text not in WORDS or not any(given):
        return text
    return WORDS[text][0 if all(given) else 1]

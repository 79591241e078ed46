"""All that takes a device: what the caller does is the same, and boards and network are there."""

from typing import Any

import torch

from alphago import GoEnv, MCTSPlayer, NeuralNet, evaluate, play, selfplay
from alphago.ui.gtp.game_commands import GoEngine

GO = GoEnv(3, komi=0.5)


class Watched(NeuralNet):
    """Notes where its evaluators compute."""

    places: list[str]

    def evaluator(self, dtype: str | None = None, device: str = "auto", **options: Any) -> Any:
        made = super().evaluator(dtype, device, **options)
        self.places.append(made.device)
        return made


def test_callers(device: str) -> None:
    torch.manual_seed(0)
    net = Watched(GO, tower_height=1, channels=8)
    net.places = []
    player = MCTSPlayer(GO, net, 16, device=device)
    assert GO.position().legal_mask[player.suggest_move()]
    (record,) = selfplay(GO, net, 4, device=device, seed=0)
    assert record.position(GO).is_over or record.resigned
    assert len(evaluate(GO, net, "random", 4, 4, device=device).games) == 4
    answers = iter(["hint", "quit"])
    play(GO, net, 4, read=lambda _: next(answers), write=lambda _: None, device=device)
    engine = GoEngine(GO, net, 4, device=device)
    assert engine.commands["genmove"](["b"])
    assert player.search.batch.device == engine.player.evaluators(GO).device == device
    assert set(net.places) == {device}
    assert len(net.places) >= 5
    # Policies alone, whose boards are the CPU's.
    assert len(evaluate(GO, net, net, 2, 0, device=device).games) == 2

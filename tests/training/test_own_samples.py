"""`train_on`: a network learns what it is given, in Black's view, and goes on where it was."""

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from alphago import GoEnv, train_on
from alphago.training.own_samples import _KEPT
from tests.training.small_runs import GO, net_of, same

EXACT: dict[str, Any] = {"groups": 1, "bfloat16": False}
POSITIONS = [GO.position(), GO.position().play(4), GO.position().play(4).play(0)]
POLICIES = np.eye(10)[[4, 0, 8]]


def test_it_learns_what_it_is_given() -> None:
    """Outcomes are Black's, whoever is to move."""
    net = net_of(2)
    first = train_on(net, POSITIONS, POLICIES, [1, 1, -1], learning_rate=0.02, **EXACT)
    last = train_on(net, POSITIONS, POLICIES, [1, 1, -1], 100, learning_rate=0.02, batch_size=2, **EXACT)
    assert (first["steps"], last["steps"]) == (1, 200)  # all positions in each epoch, in two batches
    assert last["policy_loss"] < first["policy_loss"]
    assert "score_loss" not in last
    policy, value = net(POSITIONS)
    assert policy.argmax(axis=1).tolist() == [4, 0, 8]
    assert (np.sign(value) == [1, 1, -1]).all()


def test_a_further_call_goes_on() -> None:
    """With optimizer and warm-up; with other settings it begins anew.  A network that is gone is not kept."""
    once, twice, anew = net_of(2), net_of(2), net_of(2)
    arguments = POSITIONS[:1], POLICIES[:1], [1]
    train_on(once, *arguments, 2, **EXACT)
    for net, epochs, decay in ((twice, 1, 0.01), (twice, 1, 0.01), (anew, 1, 0.01), (anew, 1, 0.02)):
        train_on(net, *arguments, epochs, weight_decay=decay, **EXACT)
    assert same(once, twice)
    assert not same(once, anew)
    counts = [(train_on(anew, *arguments, dense_rate=0.5), len(_KEPT[anew].optimizer.param_groups))[1] for _ in "two"]
    assert len(set(counts)) == 1
    gone = weakref.ref(once)
    del once, net
    gc.collect()
    assert gone() is None


def test_a_file_is_a_network_that_stays_as_it_is(tmp_path: Path) -> None:
    """On the board and komi of the positions; what was trained is in the result."""
    file = tmp_path / "net.safetensors"
    net_of(2).save(file)
    before = file.read_bytes()
    for one in (file, str(file)):
        env = GoEnv(4, komi=2)
        net = train_on(one, [env.position()], [[1] + [0] * 16], [1], **EXACT).net
        assert (net.env, net.training) == (env, False)
        assert not same(net, net_of(2))
    assert file.read_bytes() == before
    net = net_of(2)
    assert train_on(net, POSITIONS, POLICIES, [1, 1, -1], **EXACT).net is net


def test_illegal_actions_may_be_left_out() -> None:
    """The policy loss is over legal moves then; what the caller gave stays as it was."""
    policies = POLICIES.copy()
    losses = {"masked": True, "value": 0.0, "ownership": 0.0, "score": 0.0}
    plain = train_on(net_of(2), POSITIONS, policies, [1, 1, -1], losses={**losses, "masked": False}, **EXACT)
    masked = train_on(net_of(2), POSITIONS, policies, [1, 1, -1], losses=losses, **EXACT)
    assert masked["policy_loss"] < plain["policy_loss"]
    assert masked["policy_entropy"] < plain["policy_entropy"]
    assert np.array_equal(policies, POLICIES)


def test_no_step_was_finite() -> None:
    net = net_of(2)
    with torch.no_grad():
        next(net.parameters())[:] = torch.inf
    with pytest.raises(ValueError, match=r"none of 3 gradient steps was finite.* a lower learning_rate than 0\.002"):
        train_on(net, POSITIONS, POLICIES, [1, 1, 1], 3, **EXACT)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"positions": []}, "positions must be a list of at least one position of GoEnv.*, got none"),
        ({"positions": [GoEnv(4).position()] * 3}, "positions must be of GoEnv"),
        ({"policies": POLICIES[:2]}, r"policies must have shape \[3, 10\], got \[2, 10\]"),
        ({"policies": "probabilities"}, r"policies must be numbers of shape \[3, 10\], got 'probabilities'"),
        ({"outcomes": [[1], 2, 3]}, r"outcomes must be numbers of shape \[3\], got \[\[1\], 2, 3\]"),
        ({"policies": 2 * POLICIES}, "policies must be probabilities"),
        ({"policies": np.nan * POLICIES}, "policies must be probabilities"),
        ({"outcomes": [1, 2, 1]}, "outcomes must be numbers from -1"),
        ({"policies": POLICIES[[0, 0, 2]]}, "policies must be 0 for illegal moves, got 1 for B2 in position 1 of 3"),
    ],
    ids=str,
)
def test_refusals(changed: dict[str, Any], sentence: str) -> None:
    given = {"positions": POSITIONS, "policies": POLICIES, "outcomes": [1, 1, 1], **changed}
    with pytest.raises(ValueError, match=sentence):
        train_on(net_of(2), **given)

"""The browser, one for the tests of the page and of the notebook: playwright runs once in a process; and a network."""

import pytest
import torch

from alphago import GoEnv, NeuralNet
from tests.ui.web.browser import chromium

__all__ = ["chromium", "net"]


@pytest.fixture(scope="session")
def net() -> NeuralNet:
    """A network that forecasts score and ownership, clearly more than 0."""
    torch.manual_seed(5)
    made = NeuralNet(GoEnv(5), tower_height=1, channels=8).eval()
    with torch.no_grad():
        for parameter in [*made.value.parameters(), *made.policy.parameters()]:
            parameter.add_(0.3 * torch.randn_like(parameter))
    return made

"""Self-play of a run: what it computes in."""

from pathlib import Path

import pytest

from tests.training.small_runs import opened


@pytest.mark.parametrize("dtype", ["float32", "int8", None])
def test_self_play_computes_in_what_the_settings_say(tmp_path: Path, dtype: str | None) -> None:
    with opened(tmp_path, tower_height=1, selfplay_dtype=dtype) as run:
        evaluator = run.stage.source.evaluator  # type: ignore[attr-defined]
        assert evaluator.dtype == run.player.evaluator(run.settings.selfplay_dtype).dtype

from tests.arena.conftest import no_engine_is_left

__all__ = ["no_engine_is_left"]

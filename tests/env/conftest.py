"""Fixtures for games on a device."""

from tests.cuda.conftest import backend

__all__ = ["backend"]

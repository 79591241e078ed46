"""The browser, for the tests of the page."""

from tests.ui.web.browser import chromium

__all__ = ["chromium"]

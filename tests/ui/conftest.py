"""The browser, one for the tests of the page and of the notebook: playwright runs once in a process."""

from tests.ui.web.browser import chromium

__all__ = ["chromium"]

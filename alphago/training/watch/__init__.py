"""Observation of a run: diagnosis, reports, plots."""

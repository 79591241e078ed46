"""Observation of a run: metrics, diagnosis, reports, plots, clock."""

"""What a run tells: metrics, diagnosis, reports, plots, clock."""

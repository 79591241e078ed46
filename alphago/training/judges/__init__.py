"""Judges of a run's networks: gate, proof, resignation."""

"""Judges of a run's networks: gate, proof, and calibration of resignation."""

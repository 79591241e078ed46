"""Judges that test a run's networks: gate, proof, watched opponents, held-out games."""

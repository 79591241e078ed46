"""Who decides about a network: gate, proof, resignation."""

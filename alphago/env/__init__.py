"""Games: their description (`GameEnv`), one readable position (`Position`), many positions (`GameBatch`)."""

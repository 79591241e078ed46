"""Games: what they are (`GameEnv`), one position to look at (`Position`), many to search (`GameBatch`)."""

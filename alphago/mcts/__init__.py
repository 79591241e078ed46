"""Tree search over slots, actions, priors and values; independent of game rules and of torch."""

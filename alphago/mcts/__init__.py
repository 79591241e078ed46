"""Search: a tree over slots, actions, priors and values.  It knows no game rules and no torch."""

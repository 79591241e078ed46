"""Tree search: it handles slots, actions, priors and values, and does not depend on game rules or on torch."""

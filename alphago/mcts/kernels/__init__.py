"""The compiled search: nodes, rules that choose among them, waves."""

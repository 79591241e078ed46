"""The compiled search: nodes, the rules that choose among them, and waves of simulations."""

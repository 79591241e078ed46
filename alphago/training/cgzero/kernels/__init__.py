"""The compiled parts of CGZero's search."""

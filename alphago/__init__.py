"""AlphaZero on your own machine."""

"""Networks: `NeuralNet` with its exchangeable parts, and `inference`, its frozen copies for search."""

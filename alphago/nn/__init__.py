"""Networks: `NeuralNet` with its exchangeable parts, and `inference`, fast frozen copies of networks for search."""

"""Networks: `NeuralNet` with its swappable parts, and `NetEvaluator`, its frozen copy for search."""

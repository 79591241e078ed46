"""Exams: positions with every move's loss; how they are read, answered, graded, told apart, made and drawn."""

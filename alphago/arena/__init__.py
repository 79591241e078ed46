"""Matches between players, many games at once, and the ratings that follow from their results."""

"""Compiled rules, one file per game."""

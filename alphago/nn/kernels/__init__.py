"""Compiled work on what goes into networks and comes out of them."""

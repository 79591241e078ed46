"""A server for the Go Text Protocol."""

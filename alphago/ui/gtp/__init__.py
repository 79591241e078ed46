"""The Go Text Protocol, as a server."""

"""Payloads of ``XnnpackBackend``: a graph in a FlatBuffer, and constants behind it or named."""

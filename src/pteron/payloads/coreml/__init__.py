"""Core ML payloads: their container, the package in it, its ML program and weights."""

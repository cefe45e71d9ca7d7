"""Regions of a graph -> payloads for Core ML."""

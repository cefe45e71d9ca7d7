"""Core ML's model format as far as an ML program package uses it.

The ``.proto`` files declare our own messages under the package ``pteron.coreml``: coremltools
registers Core ML's names (``CoreML.Specification.*``) in the process-wide descriptor pool, where a
second registration of the same name is an error. Field numbers and types are Core ML's, so that
the bytes are the same; a field we do not declare survives as an unknown field.

``make proto`` regenerates the ``*_pb2`` modules.
"""

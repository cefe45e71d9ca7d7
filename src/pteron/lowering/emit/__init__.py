"""Methods -> ExecuTorch program tables."""

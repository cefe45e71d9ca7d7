"""MIL's ops, one module per family; the registry imports every module here."""

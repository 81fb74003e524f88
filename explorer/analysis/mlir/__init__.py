"""MLIR modules as text: the reader of their operations, lineage and registers."""

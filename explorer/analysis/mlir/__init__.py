"""MLIR modules as text: the one reader of their operations, and what follows from it."""

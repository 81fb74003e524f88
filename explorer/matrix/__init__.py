"""Matrices: one kernel for several configurations, targets and Triton versions.

A matrix is a request with three lists. Each cell is an ordinary compilation.
"""

from explorer.matrix.compiler import MatrixCompiler
from explorer.matrix.documents import MatrixDocument, matrix_api, matrix_document, matrix_url
from explorer.matrix.matrix import Configuration, Matrix, configurations_of, configured

__all__ = [
    "Configuration",
    "Matrix",
    "MatrixCompiler",
    "MatrixDocument",
    "configurations_of",
    "configured",
    "matrix_api",
    "matrix_document",
    "matrix_url",
]

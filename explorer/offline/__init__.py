"""A result as one HTML page that needs no server.

The page contains answers of the API. A query provides the answers about the compilation, and the other
answers are fetched from the application itself. This package computes no answer.
"""

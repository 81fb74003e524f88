"""A result as one HTML page that needs no server.

The page has what the API answers. The answers about the compilation are those of a query, the others are
fetched from the application itself. Nothing here computes an answer.
"""

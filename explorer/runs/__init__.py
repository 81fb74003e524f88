"""Runs on the server's side: requests, documents, files and summaries.

A kernel is run in `runner`; what follows from its measurements is answered by `queries`.
"""

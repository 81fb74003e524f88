"""Runs on the server's side: requests, documents, files and summaries.

`runner` runs a kernel; `queries` evaluates its measurements.
"""

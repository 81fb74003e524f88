"""Profiles: runs that were measured on other machines, in files that `write` writes and `read` reads.

Runs on this machine are in the store; their requests and documents are in `runs`.
"""

"""The command line: one file for each command, which `main` assembles.

Commands print the same documents as the API and use the same sandbox as the server.
"""

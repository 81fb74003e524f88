"""`python -m explorer` is the command `triton-explorer`."""

from explorer.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())

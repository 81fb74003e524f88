"""What is measured, against what: `python -m bench`, or `make bench`."""

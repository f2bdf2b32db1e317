"""Measurements of the product beside its peers: `make bench`, or `python -m tests.bench --help`."""

"""Benchmarks that others published, run again: their protocols and numbers, ours and other packages beside them."""

"""Governing equations from data by sparse regression solved to proven optimality."""

__version__ = "0.1.0"

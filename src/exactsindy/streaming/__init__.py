"""Equations of data that keep coming: rows are absorbed, old ones forgotten, the optimum proved again."""

from exactsindy.streaming.stream import Change as Change
from exactsindy.streaming.stream import Stream as Stream

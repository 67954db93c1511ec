"""One call from data to a selected, certified model."""

from exactsindy.discover.discovering import discover as discover
from exactsindy.discover.record import Discovery as Discovery

"""Families of functions: inner constants found on grids, and libraries that grow where the law is outside."""

from exactsindy.discovery.families.growing import grown as grown
from exactsindy.discovery.families.inner import find_inner_constants as find_inner_constants

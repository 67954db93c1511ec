"""The regression problem, compressed once: everything after the forms sees only this."""

from exactsindy.problem.block import Block as Block
from exactsindy.problem.build import Collector as Collector
from exactsindy.problem.checks import COEFFICIENT_LIMIT as COEFFICIENT_LIMIT
from exactsindy.problem.column_names import NamedTerm as NamedTerm
from exactsindy.problem.column_names import TermLike as TermLike
from exactsindy.problem.column_names import find_target as find_target
from exactsindy.problem.compress import column_norms as column_norms
from exactsindy.problem.problem import Problem as Problem
from exactsindy.problem.tall import TallCollector as TallCollector

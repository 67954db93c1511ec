"""The regression problem, compressed once: everything after the forms sees only this."""

from exactsindy.problem.block import Block as Block
from exactsindy.problem.problem import Problem as Problem
from exactsindy.problem.term import Term as Term
from exactsindy.problem.term import TermLike as TermLike

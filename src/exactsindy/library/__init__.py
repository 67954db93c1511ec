"""Candidate terms as objects: they know their name, value, derivative and sympy form."""

from exactsindy.library.base import Library as Library
from exactsindy.library.calculus import differentiate as differentiate
from exactsindy.library.derivatives import Derivatives as Derivatives
from exactsindy.library.derivatives import TotalDerivative as TotalDerivative
from exactsindy.library.derivatives import total_derivative as total_derivative
from exactsindy.library.features import Features as Features
from exactsindy.library.fourier import Fourier as Fourier
from exactsindy.library.per_equation import PerEquation as PerEquation
from exactsindy.library.polynomials import Polynomials as Polynomials
from exactsindy.library.term import Expression as Expression
from exactsindy.library.term import Term as Term
from exactsindy.library.term import Variable as Variable
from exactsindy.library.terms import Terms as Terms
from exactsindy.library.variables import Variables as Variables

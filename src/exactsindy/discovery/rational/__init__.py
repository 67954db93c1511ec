"""Rational laws: the constants of their denominators, found by exact searches of linearised laws and ranked by fits."""

from exactsindy.discovery.rational.proposing import RationalProposal as RationalProposal
from exactsindy.discovery.rational.proposing import propose_rational as propose_rational
from exactsindy.discovery.rational.resolving import ResolvedRational as ResolvedRational
from exactsindy.discovery.rational.resolving import resolve_rational as resolve_rational

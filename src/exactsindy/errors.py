"""Errors raised by exactsindy. Each names the argument, what came, what was expected and the cure."""


class ExactSindyError(Exception):
    """Base of all errors raised on purpose by this package."""


class DataError(ExactSindyError, ValueError):
    """Measured data cannot be used as given."""


class ProblemError(ExactSindyError, ValueError):
    """A regression problem cannot be built or combined as asked."""


class ConstraintError(ExactSindyError, ValueError):
    """A constraint names something unknown or contradicts another."""


class SolverError(ExactSindyError, ValueError):
    """A solve was asked for in a way that has no answer."""


class MissingDependency(ExactSindyError, ImportError):
    """An optional package is needed; the message holds the pip line that installs it."""

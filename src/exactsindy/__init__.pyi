"""The public names: read by type checkers, and by the package itself when a name is used for the first time."""

from exactsindy import constraints as constraints
from exactsindy import datasets as datasets
from exactsindy import differentiation as differentiation
from exactsindy import errors as errors
from exactsindy import plots as plots
from exactsindy import selection as selection
from exactsindy import systems as systems
from exactsindy.certificate import check_proof as check_proof
from exactsindy.certificate import verify as verify
from exactsindy.data import Field as Field
from exactsindy.data import Trajectories as Trajectories
from exactsindy.data import load as load
from exactsindy.discovery import Discovery as Discovery
from exactsindy.discovery import discover as discover
from exactsindy.errors import ExactSindyError as ExactSindyError
from exactsindy.forms import IncrementForm as IncrementForm
from exactsindy.forms import ModalForm as ModalForm
from exactsindy.forms import StrongForm as StrongForm
from exactsindy.forms import WeakForm as WeakForm
from exactsindy.interop import MIOSR as MIOSR
from exactsindy.interop import ExactSparseRegressor as ExactSparseRegressor
from exactsindy.interop import ExactSparseRegressorCV as ExactSparseRegressorCV
from exactsindy.interop import from_pysindy as from_pysindy
from exactsindy.library import Derivatives as Derivatives
from exactsindy.library import Fourier as Fourier
from exactsindy.library import PerEquation as PerEquation
from exactsindy.library import Polynomials as Polynomials
from exactsindy.library import Terms as Terms
from exactsindy.model import Model as Model
from exactsindy.model import Simulation as Simulation
from exactsindy.problem import Problem as Problem
from exactsindy.selection import Selection as Selection
from exactsindy.selection import select as select
from exactsindy.solver import Path as Path
from exactsindy.solver import Pool as Pool
from exactsindy.solver import Progress as Progress
from exactsindy.solver import Settings as Settings
from exactsindy.solver import Solution as Solution
from exactsindy.solver import Status as Status
from exactsindy.solver import Total as Total
from exactsindy.solver import refit as refit
from exactsindy.solver import solve as solve
from exactsindy.solver import solve_path as solve_path
from exactsindy.solver import solve_pool as solve_pool

__version__: str

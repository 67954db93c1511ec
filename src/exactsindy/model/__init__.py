"""Models: equations that can be read, evaluated, simulated, exported and saved."""

from exactsindy.model.coefficient_table import CoefficientTable as CoefficientTable
from exactsindy.model.equation import Equation as Equation
from exactsindy.model.equation import percent as percent
from exactsindy.model.equation import with_error as with_error
from exactsindy.model.export import to_mathml as to_mathml
from exactsindy.model.export import to_wrapping_mathml as to_wrapping_mathml
from exactsindy.model.inner_constants import InnerConstant as InnerConstant
from exactsindy.model.inner_constants import rounded_to_error as rounded_to_error
from exactsindy.model.map_phase import lags_of as lags_of
from exactsindy.model.model import Model as Model
from exactsindy.model.simulation import FieldSimulation as FieldSimulation
from exactsindy.model.simulation import Simulation as Simulation
from exactsindy.model.simulation import SimulationStatus as SimulationStatus

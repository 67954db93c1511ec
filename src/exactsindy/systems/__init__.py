"""Known systems with their true coefficients, and the noise of the published experiments."""

from exactsindy.systems.catalogue import SYSTEMS as SYSTEMS
from exactsindy.systems.catalogue import duffing as duffing
from exactsindy.systems.catalogue import find_system as find_system
from exactsindy.systems.catalogue import hopf as hopf
from exactsindy.systems.catalogue import lorenz as lorenz
from exactsindy.systems.catalogue import lotka_volterra as lotka_volterra
from exactsindy.systems.catalogue import mhd as mhd
from exactsindy.systems.catalogue import roessler as roessler
from exactsindy.systems.catalogue import van_der_pol as van_der_pol
from exactsindy.systems.fields import FIELD_SYSTEMS as FIELD_SYSTEMS
from exactsindy.systems.fields import FieldSystem as FieldSystem
from exactsindy.systems.fields import Initial as Initial
from exactsindy.systems.fields import find_field_system as find_field_system
from exactsindy.systems.fields import random_waves as random_waves
from exactsindy.systems.measurement_noise import add_field_noise as add_field_noise
from exactsindy.systems.measurement_noise import add_noise as add_noise
from exactsindy.systems.measurement_noise import noise_scale as noise_scale
from exactsindy.systems.system import Rng as Rng
from exactsindy.systems.system import System as System
from exactsindy.systems.system import integrate as integrate

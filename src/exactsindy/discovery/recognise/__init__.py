"""Recognise data that mislead: what about them makes different laws look alike, and which equations that undermines."""

from exactsindy.discovery.recognise.outliers import are_codes as are_codes
from exactsindy.discovery.recognise.outliers import far_limits as far_limits
from exactsindy.discovery.recognise.outliers import good_runs as good_runs
from exactsindy.discovery.recognise.outliers import is_sentinel as is_sentinel
from exactsindy.discovery.recognise.outliers import leave_out_sentinels as leave_out_sentinels
from exactsindy.discovery.recognise.recognising import STAND_INS as STAND_INS
from exactsindy.discovery.recognise.recognising import UNDERMINING as UNDERMINING
from exactsindy.discovery.recognise.recognising import is_driven_position as is_driven_position
from exactsindy.discovery.recognise.recognising import misleading as misleading
from exactsindy.discovery.recognise.recognising import recognise as recognise
from exactsindy.discovery.recognise.recognising import undermined as undermined
from exactsindy.discovery.recognise.recognising import undermines_all as undermines_all
from exactsindy.discovery.recognise.recognising import undetermined_states as undetermined_states
from exactsindy.discovery.recognise.solver_output import DEGREE as DEGREE
from exactsindy.discovery.recognise.solver_output import on_polynomials as on_polynomials
from exactsindy.discovery.recognise.solver_output import solver_output_notices as solver_output_notices
from exactsindy.discovery.recognise.steps import step_notices as step_notices

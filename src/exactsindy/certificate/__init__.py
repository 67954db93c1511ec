"""What is claimed, and checking it without the solver."""

from exactsindy.certificate.constrained import outside_cone as outside_cone
from exactsindy.certificate.counting import count_supports as count_supports
from exactsindy.certificate.counting import support_value as support_value
from exactsindy.certificate.counting import supports as supports
from exactsindy.certificate.record import Certificate as Certificate
from exactsindy.certificate.rivals import check_rivals as check_rivals
from exactsindy.certificate.stacked import Stacked as Stacked
from exactsindy.certificate.verification import Verification as Verification
from exactsindy.certificate.verifying import verify as verify

"""What is claimed, and checking it without the solver."""

from exactsindy.certificate.claims import Certificate as Certificate
from exactsindy.certificate.proof_check import check_proof as check_proof
from exactsindy.certificate.rivals import check_rivals as check_rivals
from exactsindy.certificate.verification import Verification as Verification
from exactsindy.certificate.verifying import verify as verify
from exactsindy.certificate.verifying import verify_all as verify_all

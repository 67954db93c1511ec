"""From data to certified equations: read, trim, prepare, select, refine, prove, explain."""

from exactsindy.discovery.discovering import discover as discover
from exactsindy.discovery.result import Discovery as Discovery
from exactsindy.discovery.run_check import RunVerification as RunVerification
from exactsindy.discovery.run_check import verify_run as verify_run

"""One call from data to a selected, certified model."""

from exactsindy.discovery.discovering import discover as discover
from exactsindy.discovery.result import Discovery as Discovery
from exactsindy.discovery.run_check import RunVerification as RunVerification
from exactsindy.discovery.run_check import verify_run as verify_run
from exactsindy.discovery.run_folder import Run as Run
from exactsindy.discovery.run_folder import load_run as load_run
from exactsindy.discovery.run_folder import save_run as save_run

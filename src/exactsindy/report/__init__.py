"""Results for people: text, and one self-contained HTML page."""

from exactsindy.report.figures import point_size as point_size
from exactsindy.report.figures import rounded as rounded
from exactsindy.report.figures import thinned as thinned
from exactsindy.report.held_out import held_out_scores as held_out_scores
from exactsindy.report.page import report as report
from exactsindy.report.text import describe as describe
from exactsindy.report.text import discovery_html as discovery_html
from exactsindy.report.text import spoken as spoken
from exactsindy.report.typesetting import typesetter as typesetter
from exactsindy.report.verdict import Verdict as Verdict
from exactsindy.report.verdict import verdicts as verdicts
from exactsindy.report.warnings_shown import messages as messages

"""Results for people: text, and one self-contained HTML page."""

from exactsindy.report.page import report as report
from exactsindy.report.text import describe as describe
from exactsindy.report.text import discovery_html as discovery_html

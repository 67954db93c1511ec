"""Results for people: plots, and one self-contained HTML page."""

from exactsindy.report.field_plot import plot_field as plot_field
from exactsindy.report.html import report as report
from exactsindy.report.notebook import discovery_html as discovery_html
from exactsindy.report.path_plot import plot_comparison as plot_comparison
from exactsindy.report.path_plot import plot_path as plot_path
from exactsindy.report.support_plot import plot_supports as plot_supports
from exactsindy.report.text import describe as describe
from exactsindy.report.trajectory_plots import plot_fit as plot_fit
from exactsindy.report.trajectory_plots import plot_phase as plot_phase

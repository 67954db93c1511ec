"""An independent checker of the proof files of exactsindy. It uses NumPy and nothing of exactsindy."""

from exactsindy_check.checking import Report, SectionReport, check, progress_lines

__all__ = ["Report", "SectionReport", "check", "progress_lines"]

"""The HTML report: what is in a file, drawn on one page that loads nothing from anywhere."""

from pteron.report.report import Report, report

__all__ = ["Report", "report"]

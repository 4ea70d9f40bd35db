"""The charts of the page, as plain data that plotly.js draws."""

from isthmus.report.charts.chart import Chart
from isthmus.report.charts.corrections import correction_charts, correction_reading
from isthmus.report.charts.coverage import coverage_chart
from isthmus.report.charts.curve import curve_chart, still_rising
from isthmus.report.charts.fitting import error_chart, loss_chart
from isthmus.report.charts.rehearsals import rehearsal_chart
from isthmus.report.charts.tracking import tracking_chart

__all__ = [
    "Chart",
    "correction_charts",
    "correction_reading",
    "coverage_chart",
    "curve_chart",
    "error_chart",
    "loss_chart",
    "rehearsal_chart",
    "still_rising",
    "tracking_chart",
]

"""Charts, by topic."""

from assessments.charts.criterion import (
    can_be_drawn,
    criterion_chart_spec,
    criterion_chart_svg,
    curve_detail,
    job_chart_spec,
)
from assessments.charts.drawing import as_svg
from assessments.charts.loss import loss_chart_spec

__all__ = [
    "as_svg",
    "can_be_drawn",
    "criterion_chart_spec",
    "criterion_chart_svg",
    "curve_detail",
    "job_chart_spec",
    "loss_chart_spec",
]

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.access import Can, allowed
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement
from engagements.models.visibility import in_engagements_of


class SavedViewQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "SavedViewQuerySet":
        """One's own, and those that were shared with the firm."""
        mine = models.Q(user=user)
        return self.filter(mine | models.Q(is_shared=True) if allowed(user, Can.VIEW_INTERNAL)
                           else mine)


class SavedView(models.Model):
    """A person's filter, order and columns of the portfolio under a name; shared ones are
    everybody's of the firm, one of them its standard."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE,
                             related_name="portfolio_views")
    name = models.CharField(_("name"), max_length=60)
    query = models.CharField(max_length=600, blank=True)  # the address's query string
    is_shared = models.BooleanField(_("for everybody of the firm"), default=False)
    is_default = models.BooleanField(_("the firm's standard view"), default=False)

    objects = SavedViewQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["user", "name"],
                                               name="one_saved_view_per_name"),
                       models.UniqueConstraint(fields=["is_default"], name="one_standard_view",
                                               condition=models.Q(is_default=True)),
                       models.CheckConstraint(
                           condition=models.Q(is_default=False) | models.Q(is_shared=True),
                           name="standard_view_is_shared")]

    def __str__(self) -> str:
        return self.name


class ChartFigureQuerySet(models.QuerySet):
    def visible_to(self, user) -> "ChartFigureQuerySet":
        """Of the engagements that the user may see."""
        return self.filter(in_engagements_of(user))


class ChartFigure(models.Model):
    """What one engagement adds to one bar of a chart of the portfolio.

    Kept by every write of the rows that it is counted from (`delivery.portal.chart_figures`);
    `manage.py summaries` compares it with them and makes it anew.
    """

    class Chart(models.TextChoices):
        PIPELINE = "pipeline"  # engagements under way, by stage
        VALUE = "value"  # what was quoted for them, in yuan excluding tax
        PLANNED = "planned"  # person-days, by stage
        USED = "used"
        DUE = "due"  # engagements, by the day of their agreed end
        IN_TIME = "in_time"  # those of them that were accepted by then
        VERDICTS = "verdicts"  # by month and outcome

    engagement = models.ForeignKey(Engagement, models.CASCADE, related_name="chart_figures")
    chart = models.CharField(max_length=10, choices=Chart)
    bar = models.CharField(max_length=32)  # "design", "2026-07-31", "2026-07 passed"
    number = models.DecimalField(max_digits=18, decimal_places=2)

    objects = ChartFigureQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["engagement", "chart", "bar"],
                                               name="one_figure_per_bar")]
        indexes = [models.Index(fields=["chart", "bar", "number"], name="chart_figures_by_bar")]

    def __str__(self) -> str:
        return f"{self.engagement}: {self.chart} {self.bar}"

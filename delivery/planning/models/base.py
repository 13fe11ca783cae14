from engagements.access import Can, allowed
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models.visibility import in_engagements_of


class SharedQuerySet(AuditedQuerySet):
    """Rows of an engagement that its customer sees too."""

    engagement_path = "engagement"

    def visible_to(self, user) -> "SharedQuerySet":
        """Rows of the engagements that the user may see."""
        return self.filter(in_engagements_of(user, self.engagement_path))


class InternalQuerySet(SharedQuerySet):
    """Rows that stay within the firm: effort, time, risks, internal remarks."""

    def visible_to(self, user) -> "InternalQuerySet":
        """Nothing for customers, otherwise the rows of visible engagements."""
        return super().visible_to(user) if allowed(user, Can.VIEW_INTERNAL) else self.none()


class OfPlanQuerySet(SharedQuerySet):
    engagement_path = "plan__engagement"

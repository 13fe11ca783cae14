"""The filter of the audit log: actor, action, object and engagement."""

from django import forms
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from delivery.portal.audit.action_labels import AREAS
from engagements.models import Engagement, User
from engagements.models.audit import AuditArchiveQuerySet
from engagements.web.suggest_field import SuggestField


class AuditFilter(forms.Form):
    """Fields that hold nonsense are left out of the filter."""

    text = forms.CharField(label=_("Object"), required=False, max_length=80)
    action = forms.ChoiceField(label=_("Action taken"), required=False, choices=lambda: [
        ("", _("All")), *((area, list(labels.items())) for area, labels in AREAS.items())])
    actor = SuggestField(User.objects.order_by("full_name"), label=_("Performed by"),
                         required=False, to_field_name="username")
    engagement = SuggestField(Engagement.objects.all(), label=_("Engagement"), required=False,
                              to_field_name="code")

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            is_choice = type(field) is forms.ChoiceField
            field.widget.attrs["class"] = "form-select" if is_choice else "form-control"

    @property
    def is_by_text(self) -> bool:
        return bool(self.data.get("text"))

    def archives(self, archives: AuditArchiveQuerySet) -> AuditArchiveQuerySet:
        """Those that may hold entries that fit, the newest first."""
        self.is_valid()
        engagement = self.cleaned_data.get("engagement")
        return (archives.of(engagement) if engagement else archives).order_by("-first_number")

    def chosen(self, entries: QuerySet) -> QuerySet:
        """The entries that fit."""
        self.is_valid()
        asked = self.cleaned_data
        fits = Q(**{name: asked[name] for name in ("action", "actor", "engagement")
                    if asked.get(name)})
        if asked.get("text"):
            fits &= Q(target_label__icontains=asked["text"])
        return entries.filter(fits)

"""Forms of deliverables that the contract owes."""

from django import forms
from django.utils.translation import gettext_lazy as _

from delivery.reports.models import Deliverable
from delivery.reports.serializers import OwedDeliverableSerializer
from engagements.models import User
from engagements.web.row_form import RowForm
from workers.models import Artifact


class DeliverableForm(RowForm):
    """What is owed, by whom, and when it counts as delivered."""

    serializer_class = OwedDeliverableSerializer
    offered = {
        "model": lambda engagement: engagement.models.all(),
        "owner": lambda engagement: User.objects.filter(memberships__engagement=engagement).exclude(
            role="reviewer").order_by("full_name")}


class ProofForm(forms.Form):
    """What fulfils a deliverable: one of three."""

    artifact = forms.ModelChoiceField(None, label=_("Stored file"), required=False)
    repository = forms.CharField(label=_("Repository"), max_length=240, required=False)
    commit = forms.CharField(label=_("Commit"), max_length=64, required=False)
    image_digest = forms.CharField(label=_("Digest of the container image"), max_length=80,
                                   required=False)

    def __init__(self, *args, deliverable: Deliverable, **kwargs):
        super().__init__(*args, **kwargs)
        files = Artifact.objects.filter(engagement=deliverable.engagement)
        if deliverable.model:
            files = files.filter(model=deliverable.model)
        self.fields["artifact"].queryset = files.order_by("-pk")

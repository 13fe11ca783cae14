from delivery.planning.forms.base import DayInput, short_text
from delivery.planning.forms.control import models_of
from delivery.planning.serializers.change_proposal import ChangeProposalSerializer
from engagements.web.row_form import RowForm


class ChangeProposalForm(RowForm):
    """What a person of the customer writes: no price, no field of the firm."""

    serializer_class = ChangeProposalSerializer
    offered = {"model": models_of}
    widgets = {"description": short_text(4), "reason": short_text(3), "wanted_by": DayInput()}

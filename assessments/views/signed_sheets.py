"""The customer's signed sheet as pages take it in."""

from typing import Any

from assessments.forms import SignedSheetForm
from engagements.errors import InvalidInput
from engagements.models import Engagement
from engagements.text.text_joining import following
from workers.services import upload_artifact


def entered_sheet(request, engagement: Engagement) -> dict[str, Any]:
    """Signatory and stored scan of the submitted form; without a scan nothing is stored.

    Raises InvalidInput for a form that is not filled in properly.
    """
    form = SignedSheetForm(request.POST, request.FILES)
    if not form.is_valid():
        raise InvalidInput(following(*(error for errors in form.errors.values()
                                       for error in errors)))
    upload = form.cleaned_data["signed_sheet"]
    scan = upload_artifact(actor=request.user, engagement=engagement, upload=upload,
                           note=form.cleaned_data["customer_signatory"]) if upload else None
    return {"customer_signatory": form.cleaned_data["customer_signatory"], "signed_sheet": scan}

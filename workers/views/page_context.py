"""What a page is about, from its query string."""

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from engagements.models import Engagement, MigratedModel
from toolreaders.number_parsing import whole_number


def place_asked(
        request: HttpRequest) -> tuple[Engagement | None, MigratedModel | None, str]:
    """(engagement, model, stage) named by the query string, or 404."""
    params = request.GET
    if (key := whole_number(params.get("model"))) is not None:
        model = get_object_or_404(MigratedModel.objects.visible_to(request.user), pk=key)
        return model.engagement, model, params.get("stage", "")
    if params.get("engagement"):
        return get_object_or_404(Engagement.objects.visible_to(request.user),
                                 code=params["engagement"]), None, params.get("stage", "")
    return None, None, params.get("stage", "")

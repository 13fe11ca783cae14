"""Writes of the routes of unsupported and unknown APIs."""

from datetime import date

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import MigratedModel, User
from engagements.text.text_joining import listed
from workers.models import ApiRoute
from workers.unresolved_apis import ApiClass, FoundApi, found_apis

NAMED = 5  # APIs that a sentence names


@transaction.atomic
def record_routes(*, actor: User, model: MigratedModel, apis: list[str], route: str, reason: str,
                  link: str = "", answered_on: date | None = None) -> list[ApiRoute]:
    """Record one route for several APIs of a model; an earlier route of theirs stays on record.

    An issue with the community has its `link`; recorded again with `answered_on` it counts as a
    route, with the answer as its reason.

    Raises InvalidInput for a name that no analysis in force lists, for a route that does not fit,
    without an API and without a reason; NotAllowed.
    """
    require(actor, Can.WORK, model.engagement)
    model = MigratedModel.objects.select_for_update(of=("self",), no_key=True).get(pk=model.pk)
    names, reason = list(dict.fromkeys(api.strip() for api in apis)), reason.strip()
    link = link.strip()
    _check_issue(route, link, answered_on)
    _check(names, route, reason, {entry.api: entry for entry in found_apis(model)})
    rows = [ApiRoute.objects.create(model=model, api=api, route=route, reason=reason[:240],
                                    link=link, answered_on=answered_on, decided_by=actor)
            for api in names]
    audit_log.record(actor=actor, action="api_route.record", target=model,
                     engagement=model.engagement,
                     data={"apis": names, "route": route, "reason": reason[:240],
                           **({"link": link, "answered_on": answered_on} if link else {})})
    return rows


def _check_issue(route: str, link: str, answered_on: date | None) -> None:
    if (route == ApiRoute.Route.ISSUE) != bool(link):
        raise InvalidInput(_("An issue with the community has a link, another route has none."))
    if link:
        try:
            URLValidator(schemes=["http", "https"])(link)
        except ValidationError as error:
            raise InvalidInput(_("The link of the issue is no web address.")) from error
    if answered_on and (not link or answered_on > timezone.localdate()):
        raise InvalidInput(_("Only an issue has a day of its answer, and not one to come."))


def _check(names: list[str], route: str, reason: str, found: dict[str, FoundApi]) -> None:
    if not names:
        raise InvalidInput(_("Select at least one API."))
    if route not in ApiRoute.Route.values:
        raise InvalidInput(_("Choose a route."))
    if not reason:
        raise InvalidInput(_("Say why this route is taken."))
    if strange := [name for name in names if name not in found]:
        raise InvalidInput(_("No analysis in force names %(apis)s.") % {
            "apis": listed(strange[:NAMED])})
    known_not_to_run = [name for name in names if found[name].kind != ApiClass.UNKNOWN]
    if route == ApiRoute.Route.AS_IS and known_not_to_run:
        raise InvalidInput(_("%(apis)s cannot be kept: the analysis says that the NPU does not "
                             "support it.") % {"apis": listed(known_not_to_run[:NAMED])})

"""Deliverables that the contract owes: listed, assigned, fulfilled by something with a checksum."""

import re

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.agreement.deliverables import ITEMS
from delivery.agreement.queries import agreement_of
from delivery.reports.models import Deliverable
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import Engagement, User
from engagements.optimistic_locking import assign, lock_checked, save_changes
from workers.models import Artifact

COMMIT = re.compile(r"[0-9a-f]{7,64}")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
NOTHING = {"artifact": None, "repository": "", "commit": "", "image_digest": ""}


@transaction.atomic
def list_agreed(*, actor: User, engagement: Engagement) -> list[Deliverable]:
    """List what was agreed on: code and weights per model that owes it, the rest once.

    What is listed already stays; safe to repeat. Returns the new rows.
    """
    require(actor, Can.MANAGE, engagement)
    engagement = _locked(engagement)
    made, models = [], {model.code: model for model in engagement.models.current()}
    for entry in agreement_of(engagement).value("deliverables") or ():
        item = ITEMS.get(entry["code"])
        for code in entry["models"] if item and item.is_per_model else [None]:
            model = models.get(code)
            if item and not engagement.deliverables.filter(code=item.code, model=model).exists():
                made.append(Deliverable.objects.create(
                    engagement=engagement, number=_next(engagement), code=item.code, model=model,
                    title=entry["title"]["zh-hans"], title_en=entry["title"]["en"],
                    rule=entry["rule"], due_stage=entry["due"]))
    if made:
        audit_log.record(actor=actor, action="deliverable.list", target=engagement,
                         engagement=engagement, data={"deliverables": [str(row) for row in made]})
    return made


@transaction.atomic
def add_deliverable(*, actor: User, engagement: Engagement, **fields) -> Deliverable:
    """A further deliverable of the contract."""
    require(actor, Can.MANAGE, engagement)
    engagement = _locked(engagement)
    _check(engagement, fields)
    made = Deliverable.objects.create(engagement=engagement, number=_next(engagement), **fields)
    audit_log.record(actor=actor, action="deliverable.add", target=made, engagement=engagement)
    return made


@transaction.atomic
def update_deliverable(*, actor: User, deliverable: Deliverable, seen: int | None = None, **fields
                       ) -> Deliverable:
    """Change title, rule, owner or due stage. Raises EditConflict past version `seen`."""
    require(actor, Can.MANAGE, deliverable.engagement)
    deliverable = lock_checked(deliverable, seen)
    _check(deliverable.engagement, fields)
    save_changes(deliverable, actor=actor, action="deliverable.update",
                 engagement=deliverable.engagement, changed=assign(deliverable, fields))
    return deliverable


@transaction.atomic
def fulfil_deliverable(*, actor: User, deliverable: Deliverable, artifact: Artifact | None = None,
                       repository: str = "", commit: str = "", image_digest: str = ""
                       ) -> Deliverable:
    """Name what fulfils it: a stored file, a commit of a repository, or a container image.

    Raises InvalidInput for none or more than one of them, a file of another engagement, or a
    commit or digest that is none.
    """
    require(actor, Can.WORK, deliverable.engagement)
    deliverable = lock_checked(deliverable, None)
    given = {"artifact": artifact, "repository": repository.strip(), "commit": commit.strip(),
             "image_digest": image_digest.strip()}
    _check_proof(deliverable, given)
    changed = assign(deliverable, {**given, "delivered_by": actor, "delivered_at": timezone.now()})
    save_changes(deliverable, actor=actor, action="deliverable.fulfil",
                 engagement=deliverable.engagement, changed=changed)
    return deliverable


@transaction.atomic
def reopen_deliverable(*, actor: User, deliverable: Deliverable) -> Deliverable:
    """What was named does not fulfil it: it is owed again."""
    require(actor, Can.MANAGE, deliverable.engagement)
    deliverable = lock_checked(deliverable, None)
    changed = assign(deliverable, {**NOTHING, "delivered_by": None, "delivered_at": None})
    save_changes(deliverable, actor=actor, action="deliverable.reopen",
                 engagement=deliverable.engagement, changed=changed)
    return deliverable


def _check_proof(deliverable: Deliverable, given: dict) -> None:
    artifact, commit = given["artifact"], given["commit"]
    if sum(map(bool, (artifact, commit, given["image_digest"]))) != 1:
        raise InvalidInput(_("Name one thing: a stored file, a commit, or a container image."))
    if artifact and artifact.engagement_id != deliverable.engagement_id:
        raise InvalidInput(_("The file belongs to another engagement."))
    if commit and not (COMMIT.fullmatch(commit) and given["repository"]):
        raise InvalidInput(_("A commit is 7 to 64 hexadecimal digits, of a repository that is "
                             "named."))
    if given["image_digest"] and not DIGEST.fullmatch(given["image_digest"]):
        raise InvalidInput(_("A digest is “sha256:” and 64 hexadecimal digits."))


def _check(engagement: Engagement, fields: dict) -> None:
    owner, model = fields.get("owner"), fields.get("model")
    if owner and not engagement.memberships.filter(user=owner).exists():
        raise InvalidInput(_("%(person)s is not a member of this engagement.") % {"person": owner})
    if model and model.engagement_id != engagement.pk:
        raise InvalidInput(_("The model belongs to another engagement."))


def _locked(engagement: Engagement) -> Engagement:
    return Engagement.objects.select_for_update(of=("self",), no_key=True).get(pk=engagement.pk)


def _next(engagement: Engagement) -> int:
    return (engagement.deliverables.aggregate(n=Max("number"))["n"] or 0) + 1

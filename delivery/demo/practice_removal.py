"""Removes the practice data: a database that held nothing else is empty again.

The audit log is one chain and names every engagement, so nothing is cut out of it: the tables are
emptied whole, which is refused as soon as anything in them is real.
"""

from django.core.files.storage import Storage
from django.core.management import call_command
from django.db import models, transaction
from django.utils.translation import gettext as _

from assessments.services import load_standard_definitions
from delivery.demo.sample_firm import MAIL
from delivery.quotes.services import load_rate_cards
from delivery.surveys.services.publishing import load_standard_questionnaire
from engagements.access import require_administrator
from engagements.audit import audit_log, checkpoint, published_heads
from engagements.errors import WrongState
from engagements.models import Customer, Engagement, User
from engagements.services.people import set_password
from engagements.text.text_joining import listed
from workers.models import Node

SHOWN = 5


def real_things() -> list[str]:
    """Names of what is no practice data; nothing where the practice can be removed."""
    rows = [*Engagement.objects.filter(has_practice_data=False)[:SHOWN],
            *Customer.objects.exclude(engagements__has_practice_data=True)[:SHOWN],
            *Node.objects.filter(is_practice=False)[:SHOWN]]
    return [str(row) for row in rows]


def remove_practice(*, actor: User | None, password: str = "") -> None:
    """Empty the database of a practice installation and load the standard data again.

    The administrator who asks for it stays, with the new password and without the practice
    address, and so do people without an address of the practice. Stored files are deleted after
    the commit. `actor` is None where whoever starts the portal asks for it: then no practice
    account stays. Raises WrongState, naming it, while anything real is there; InvalidInput for a
    weak password.
    """
    if actor:
        require_administrator(actor)
    if found := real_things():
        raise WrongState(_("Practice data and real data (%(names)s) share one audit log, so the "
                           "practice "
                           "data cannot be removed. Start with an empty database instead.")
                         % {"names": listed(found)})
    with transaction.atomic():
        codes = list(Engagement.objects.values_list("code", flat=True))
        files, people = list(_stored_files()), _who_stays(actor, password)
        call_command("flush", verbosity=0, interactive=False)
        for person in people:
            person.save(force_insert=True)
        _load_standards(people, codes)
        transaction.on_commit(lambda: _delete(files))
        transaction.on_commit(lambda: checkpoint.begin_anew(None))
        transaction.on_commit(published_heads.forget)


def _who_stays(actor: User | None, password: str) -> list[User]:
    staying = list(User.objects.exclude(email__endswith=MAIL).exclude(
        pk=actor.pk if actor else None))
    if actor:
        set_password(actor, password)
        actor.email = "" if actor.email.endswith(MAIL) else actor.email
        staying.append(actor)
    return staying


def _load_standards(people: list[User], codes: list[str]) -> None:
    load_standard_definitions()
    load_standard_questionnaire()
    if people:
        load_rate_cards(actor=people[-1])
        audit_log.record(actor=people[-1], action="practice.remove", target=people[-1],
                         data={"engagements": codes})


def _stored_files():
    """(storage, name) of every file that a row names."""
    from django.apps import apps

    for model in apps.get_models():
        for field in model._meta.local_fields:
            if isinstance(field, models.FileField):
                for name in model._base_manager.exclude(**{field.name: ""}).values_list(
                        field.name, flat=True):
                    if name:
                        yield field.storage, name


def _delete(files: list[tuple[Storage, str]]) -> None:
    for storage, name in files:
        storage.delete(name)

"""Writes of saved views. Each function owns its transaction and audit entry."""

from django.db import transaction
from django.http import QueryDict
from django.utils.translation import gettext as _

from delivery.portal.models import SavedView
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import User

MOST = 20
PARAMETERS = ("q", "state", "owner", "mine", "late", "stage", "sort", "group", "columns")


@transaction.atomic
def save_view(*, actor: User, name: str, query: str, is_shared: bool = False,
              is_default: bool = False) -> SavedView:
    """Keep filter, order and columns of an address under a name; the same name is replaced.

    Args:
        is_shared: everybody of the firm has it; for managers to say, as `is_default`: the
            portfolio opens with it, in place of the one that was the firm's standard before.
    Raises InvalidInput without a name, and beyond twenty views.
    """
    if is_shared or is_default:
        require(actor, Can.MANAGE)
    name = name.strip()[:60]
    if not name:
        raise InvalidInput(_("Give the view a name."))
    User.objects.select_for_update(no_key=True).get(pk=actor.pk)
    view = SavedView.objects.filter(user=actor, name=name).first() or SavedView(
        user=actor, name=name)
    if view.pk is None and actor.portfolio_views.count() >= MOST:
        raise InvalidInput(_("At most twenty views can be saved; delete one first."))
    view.query = _known_parameters(query)
    view.is_shared, view.is_default = is_shared or is_default, is_default
    if is_default:
        SavedView.objects.filter(is_default=True).exclude(pk=view.pk).update(is_default=False)
    view.save()
    audit_log.record(actor=actor, action="view.save", target=view)
    return view


@transaction.atomic
def delete_view(*, actor: User, view: SavedView) -> None:
    """Forget one's own view; managers also one that is shared."""
    if view.user_id != actor.pk:
        require(actor, Can.MANAGE)
    SavedView.objects.filter(pk=view.pk).delete()
    audit_log.record(actor=actor, action="view.delete", target=view,
                     data={"query": view.query})


@transaction.atomic
def undo_view_deletion(*, actor: User, name: str, query: str) -> SavedView:
    """Keep a view again that was deleted. Writes an audit entry.

    Raises WrongState where another view has got the name since, and what `save_view` raises.
    """
    User.objects.select_for_update(no_key=True).get(pk=actor.pk)
    if actor.portfolio_views.filter(name=name).exists():
        raise WrongState(_("Another view is now called “%(name)s”; nothing was undone.")
                         % {"name": name})
    return save_view(actor=actor, name=name, query=query)


def _known_parameters(query: str) -> str:
    given, found = QueryDict(query), QueryDict(mutable=True)
    for name in PARAMETERS:
        if values := [value for value in given.getlist(name) if value]:
            found.setlist(name, values)
    return found.urlencode()[:600]

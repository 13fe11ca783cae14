"""Runtimes, and which jobs get which."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, MigratedModel, User
from workers.models import Job, Node, Runtime, RuntimeChoice
from workers.runtimes import chosen
from workers.runtimes import options as runtime_options


@transaction.atomic
def save_runtime(*, actor: User, name: str, place: str, options: dict[str, Any],
                 runtime: Runtime | None = None) -> Runtime:
    """A new runtime, or a change of one. Jobs that are queued keep the old one.

    Raises InvalidInput naming, in `parameters`, the option that cannot be used.
    """
    require(actor, Can.OPERATE)
    found = Runtime.objects.select_for_update(of=("self",), no_key=True).get(
        pk=runtime.pk) if runtime else Runtime()
    found.name, found.place = name.strip(), place
    found.full_clean(exclude=["options"])
    found.options = runtime_options.cleaned(place, options)
    found.save()
    found.software.all().delete()  # it was read as the runtime was before
    audit_log.record(actor=actor, action="runtime.change" if runtime else "runtime.add",
                     target=found, data={"name": found.name, "place": place,
                                         "options": found.options})
    return found


@transaction.atomic
def retire_runtime(*, actor: User, runtime: Runtime) -> Runtime:
    """Take a runtime out of use: no new job gets it. Choices that name it count no more."""
    require(actor, Can.OPERATE)
    found = Runtime.objects.select_for_update(of=("self",), no_key=True).get(pk=runtime.pk)
    if found.retired_at is None:
        found.retired_at = timezone.now()
        found.save(update_fields=["retired_at"])
        RuntimeChoice.objects.filter(runtime=found).delete()
        audit_log.record(actor=actor, action="runtime.retire", target=found,
                         data={"name": found.name})
    return found


@transaction.atomic
def undo_retirement(*, actor: User, runtime: Runtime, retired_at: datetime,
                    choices: Iterable[list[int | None]] = ()) -> Runtime:
    """Take a runtime into use again that was retired by mistake. Writes an audit entry.

    Args:
        choices: keys of node, engagement and model of those that named it; they count again where
            nothing else was chosen since.
    Raises WrongState where it is in use, or was retired at another time.
    """
    require(actor, Can.OPERATE)
    found = Runtime.objects.select_for_update(of=("self",), no_key=True).get(pk=runtime.pk)
    if found.retired_at != retired_at:
        raise WrongState(_("The runtime %(name)s was changed meanwhile; nothing was undone.")
                         % {"name": found.name})
    found.retired_at = None
    found.save(update_fields=["retired_at"])
    for node, engagement, model in choices:
        RuntimeChoice.objects.get_or_create(
            node_id=node, engagement_id=engagement, model_id=model, defaults={"runtime": found})
    audit_log.record(actor=actor, action="runtime.reuse", target=found, data={"name": found.name})
    return found


@transaction.atomic
def choose_runtime(*, actor: User, runtime: Runtime, node: Node | None = None,
                   engagement: Engagement | None = None,
                   model: MigratedModel | None = None) -> RuntimeChoice:
    """Later jobs of a model, an engagement or a node get this runtime; replaces a choice.

    Args:
        node: with a model or engagement, their jobs on this node only.
    Raises InvalidInput where nothing or too much is named, or the runtime is retired.
    """
    owner = model.engagement if model else engagement
    require(actor, Can.WORK if owner else Can.OPERATE, owner)
    if not (node or owner) or (model and engagement):
        raise InvalidInput(_("Name a node, an engagement or a model; an engagement and a model "
                             "cannot be combined."))
    require_in_use(runtime)
    choice, _made = RuntimeChoice.objects.update_or_create(
        node=node, engagement=engagement, model=model, defaults={"runtime": runtime})
    audit_log.record(actor=actor, action="runtime.choose", target=choice, engagement=owner,
                     data=_audited(choice))
    return choice


@transaction.atomic
def end_choice(*, actor: User, choice: RuntimeChoice) -> None:
    """Later jobs get what is chosen further away, in the end the node as it is."""
    owner = choice.model.engagement if choice.model else choice.engagement
    require(actor, Can.WORK if owner else Can.OPERATE, owner)
    RuntimeChoice.objects.filter(pk=choice.pk).delete()
    audit_log.record(actor=actor, action="runtime.choice_end", target=choice, engagement=owner,
                     data=_audited(choice))


def _audited(choice: RuntimeChoice) -> dict[str, str]:
    named = {"runtime": choice.runtime.name, "node": choice.node and choice.node.name,
             "model": choice.model and choice.model.code,
             "engagement": choice.engagement and choice.engagement.code}
    return {name: text for name, text in named.items() if text}


def require_in_use(runtime: Runtime) -> None:
    """Raises InvalidInput for a runtime that was retired."""
    if runtime.retired_at:
        raise InvalidInput(_("The runtime %(name)s is out of use.") % {"name": runtime.name})


def own_of(job: Job) -> Runtime | None:
    """The runtime that was chosen for the job itself, if it is still in use."""
    recorded = (job.own_gang.present().first() if job.nodes_wanted > 1 else job).runtime
    if recorded.get("chosen_by") != chosen.JOB:
        return None
    return Runtime.objects.in_use().filter(pk=recorded["id"]).first()

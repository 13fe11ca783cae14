"""Templates of jobs: parameters and runtime that the firm uses again."""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from engagements.access import Can, allowed, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import User
from workers import kinds
from workers.jobs.job_template_values import storable_values
from workers.models import JobTemplate, Runtime
from workers.services import job_checks


@transaction.atomic
def save_template(*, actor: User, name: str, kind: str, parameters: dict[str, Any] | None = None,
                  runtime: Runtime | None = None) -> JobTemplate:
    """Keep the values of a job under a name. Writes an audit entry.

    Files, paths and confirmations are left out: they are given for each job.
    Raises InvalidInput for a name that is taken, a value that the kind does not take, one that
    names a stored file or a job, and one that looks like a secret; NotAllowed.
    """
    require(actor, Can.WORK if allowed(actor, Can.WORK) else Can.OPERATE)
    declaration = kinds.get(kind)
    job_checks.require_usable_runtime(runtime, declaration)
    template = JobTemplate.objects.create(
        name=_free_name(name), kind=kind, runtime=runtime, created_by=actor,
        parameters=storable_values(declaration, parameters or {}))
    audit_log.record(actor=actor, action="job_template.save", target=template, data={
        "name": template.name, "kind": kind, "parameters": template.parameters,
        "runtime": runtime.name if runtime else ""})
    return template


@transaction.atomic
def rename_template(*, actor: User, template: JobTemplate, name: str) -> JobTemplate:
    """Give a template another name. Writes an audit entry.

    Raises InvalidInput for a name that is taken, NotAllowed for all but managers and operators.
    """
    template = _managed(actor, template)
    before, template.name = template.name, _free_name(name, but=template)
    template.save(update_fields=["name"])
    audit_log.record(actor=actor, action="job_template.rename", target=template,
                     data={"from": before, "to": template.name})
    return template


@transaction.atomic
def delete_template(*, actor: User, template: JobTemplate) -> None:
    """Delete a template; jobs that were filled in from it stay. Writes an audit entry.

    Raises NotAllowed for all but managers and operators.
    """
    template = _managed(actor, template)
    JobTemplate.objects.filter(pk=template.pk).delete()
    audit_log.record(actor=actor, action="job_template.delete", target=template, data={
        "name": template.name, "kind": template.kind, "parameters": template.parameters})


def _managed(actor: User, template: JobTemplate) -> JobTemplate:
    require(actor, Can.OPERATE if allowed(actor, Can.OPERATE) else Can.MANAGE)
    return JobTemplate.objects.select_for_update(of=("self",), no_key=True).get(pk=template.pk)


def _free_name(name: str, but: JobTemplate | None = None) -> str:
    name = name.strip()
    if not name or len(name) > JobTemplate._meta.get_field("name").max_length:
        raise InvalidInput(_("Give the template a name of at most 80 characters."))
    if JobTemplate.objects.filter(name=name).exclude(pk=but and but.pk).exists():
        raise InvalidInput(_("There is already a template “%(name)s”.") % {"name": name})
    return name

"""Evidence: files with checksums that can be verified, and repetitions (DOMAIN 4.6, AR-08, AR-10).

The bundle for the customer, with verdicts and documents, is made by the reports; this one holds
the raw files of jobs, for whoever wants to check them with sha256sum alone.
"""

import io
import json
import zipfile
from typing import ClassVar

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput
from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds import run_comparison
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, get, register
from workers.kinds.example_runs import GoodRun, LogShows, PracticeRun
from workers.kinds.node_scripts import run_script
from workers.kinds.references import Reference
from workers.rules.facts.of_job import facts_of_job
from workers.runtimes import software

EVERY_STAGE = tuple(Stage)
MOST_PACKED = 64 * 2**20


def _files_of(job):
    """Files of the job's model, or of its engagement, except those of bundles."""
    from workers.models import Artifact

    files = Artifact.objects.filter(engagement=job.engagement).exclude(job__kind="evi.bundle")
    files = files.filter(model=job.model) if job.model else files
    return files.select_related("job__node", "job__created_by", "model").order_by("pk")


def _record(job) -> dict:
    """Command, place, versions and people of one job."""
    return {"job": job.pk, "kind": job.kind, "state": job.state, "command": job.command,
            "parameters": job.parameters, "exit_status": job.exit_status,
            "runtime": job.runtime, "node": job.node_names,
            "software": software.of_job(job),
            "cards": job.results.get("cards") or [], "is_practice": job.is_practice,
            "by": job.created_by.get_full_name() if job.created_by else "",
            "created_at": job.created_at.isoformat(),
            "started_at": job.started_at.isoformat() if job.started_at else None,
            "finished_at": job.finished_at.isoformat() if job.finished_at else None}


PACKED = ngettext_noop(
    "%(files)d file of %(jobs)d jobs, its checksum verified.",
    "%(files)d files of %(jobs)d jobs, every checksum verified.", "files")


@register
class Bundle(JobKind):
    code = "evi.bundle"
    title = _("Bundle of raw files")
    description = _("Checks every stored file of the model against its SHA-256, writes a manifest "
                    "for sha256sum and the record of every job; packs the files if they are "
                    "small.")
    success = _("Every file still has the checksum it was stored with.")
    stages = EVERY_STAGE
    runs_on_node = False
    reads_every_file = True
    usual_seconds = 30
    parameters: ClassVar = (
        Parameter("pack", _("Pack the files"), "flag", default=True,
                  help=_("Up to 64 MB; larger ones are named in the manifest only.")),
    )

    def run_here(self, job, parameters):
        from workers.artifacts.artifact_store import is_intact

        files = list(_files_of(job))
        damaged = [file for file in files if not is_intact(file)]
        names = {file.pk: f"{file.pk}/{file.name}" for file in files}
        manifest = "".join(f"{file.sha256}  {names[file.pk]}\n" for file in files)
        jobs = {file.job.pk: _record(file.job) for file in files if file.job}
        facts = {"files": len(files), "jobs": len(jobs), "damaged": len(damaged),
                 "bytes": sum(file.size for file in files),
                 "which": ", ".join(str(file.pk) for file in damaged[:5])}
        outputs = {"manifest.txt": manifest.encode(), "jobs.json": json.dumps(
            {"desk_report": "bundle", "jobs": list(jobs.values())}, indent=1).encode()}
        if not files:
            return Judgement(False, gettext_noop("There is no file to bundle.")), {}
        if damaged:
            return Judgement(False, gettext_noop(
                "%(damaged)d of %(files)d files have another checksum than recorded: %(which)s."),
                facts, facts), outputs
        if parameters["pack"] and facts["bytes"] <= MOST_PACKED:
            outputs["bundle.zip"] = _packed(files, names, outputs)
        return Judgement(True, PACKED, facts, facts), outputs


def _packed(files, names: dict, outputs: dict) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in outputs.items():
            archive.writestr(name, data)
        for file in files:
            with file.file.open("rb") as stream:
                archive.writestr(names[file.pk], stream.read())
    return packed.getvalue()


CHECKSUMS = ngettext_noop(
    "Checksum of %(files)d file with %(bytes)d bytes.",
    "Checksums of %(files)d files with %(bytes)d bytes.", "files")


@register
class Checksums(JobKind):
    code = "evi.checksums"
    title = _("Checksums of files")
    description = _("SHA-256 of every file of a folder on a node, for example of weights that jobs "
                    "use in place.")
    success = _("A list with the checksum of at least one file was written.")
    stages = EVERY_STAGE
    timeout_seconds = 24 * 3600
    usual_seconds = 600
    needs_model = False
    parameters: ClassVar = (
        Parameter("folder", _("Folder or file"), "path"),
        Parameter("python", _("Python interpreter"), "path", default="python3"),
    )
    collect = ("manifest.txt", "input.report.json")
    judged_files = ("input.report.json",)
    good_run = GoodRun(log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"folder": "~/data/weights"}),)

    def argv(self, parameters):
        return run_script("manifest", parameters["folder"], "input", python=parameters["python"])

    def conclude(self, finished: Finished) -> Judgement:
        report = finished.report("input")
        facts = {"files": report.get("file_count") or 0, "bytes": report.get("bytes") or 0}
        if not facts["files"] or "manifest.txt" not in finished.files:
            return Judgement(False, gettext_noop("No file was found; nothing was computed."), facts)
        return Judgement(True, CHECKSUMS, facts, facts)


NOT_COMPARABLE = ngettext_noop(
    "Job %(job)d cannot be compared: status %(status)s, %(n)d figure on both sides.",
    "Job %(job)d cannot be compared: status %(status)s, %(n)d figures on both sides.", "n")
DIFFERS = ngettext_noop(
    "%(name)s differs by %(shown)s %% from job %(job)d; %(n)d figure compared.",
    "%(name)s differs by %(shown)s %% from job %(job)d; %(n)d figures compared.", "n")
AGREES = ngettext_noop(
    "%(n)d figure agrees with job %(job)d; the largest difference is %(shown)s %% (%(name)s).",
    "%(n)d figures agree with job %(job)d; the largest difference is %(shown)s %% "
    "(%(name)s).", "n")


@register
class Rerun(JobKind):
    code = "evi.rerun"
    title = _("Repetition of a job")
    description = _("Runs a stored job again with the same command, variables and cards, and "
                    "compares its figures with the first ones.")
    success = _("At least one figure can be compared, and none differs by more than the "
                "tolerance.")
    stages = EVERY_STAGE
    timeout_seconds = 7 * 24 * 3600
    usual_seconds = 3600
    may_log_errors = True  # those of the first run may be the same
    parameters: ClassVar = (
        Parameter("job", _("Job (number)"), "integer", minimum=1,
                  help=_("A job of this engagement that succeeded on a node.")),
        Parameter("tolerance", _("Tolerance"), "number", default=0.01, minimum=0, maximum=10,
                  help=_("Largest relative difference of any figure; 0.01 is 1 %.")),
    )
    good_run = None

    def example_command(self):
        return []

    def example_environment(self):
        return {}

    def require_place(self, parameters, engagement):
        first = _first(parameters)
        if first is None or first.engagement_id != getattr(engagement, "pk", None):
            raise InvalidInput(gettext("Job %(number)s is not a job of this engagement.")
                               % {"number": parameters["job"]})
        if first.state != "succeeded" or not first.command or first.kind == self.code:
            raise InvalidInput(gettext("Only a job that succeeded on a node can be repeated."))

    def read_in_place(self, parameters):
        return {"job": Reference("job", parameters["job"])}

    def require_permitted(self, parameters, actor, node):
        first = _first(parameters)
        get(first.kind).require_permitted(first.parameters, actor, node)

    def argv(self, parameters):
        return list(_first(parameters).command)

    def runtime(self, parameters):
        return _first(parameters).runtime

    def environment(self, parameters):
        first = _first(parameters)
        return get(first.kind).environment(first.parameters) if first else {}

    def cards_for(self, parameters):
        first = _first(parameters)
        return first.cards_wanted if first else 0

    def statuses_for(self, parameters):
        return (_first(parameters).exit_status,)

    def device_claim(self, parameters):
        first = _first(parameters)
        return get(first.kind).device_claim(first.parameters)

    def figures_need_device(self, parameters):
        first = _first(parameters)
        return get(first.kind).figures_need_device(first.parameters)

    def device_in(self, finished):
        return get(_first(finished.parameters).kind).device_in(finished)

    def globs(self, parameters):
        first = _first(parameters)
        return get(first.kind).globs(first.parameters)

    def log_globs(self, parameters):
        first = _first(parameters)
        return get(first.kind).log_globs(first.parameters)

    def facts(self, parameters):
        first = _first(parameters)
        return facts_of_job(first.parameters, {}, get(first.kind).facts(first.parameters)
                            ) if first else {}

    def conclude(self, finished: Finished) -> Judgement:
        first = _first(finished.parameters)
        known = run_comparison.of_job(first)
        compared = run_comparison.compared(known,
                                           run_comparison.of_readings(finished.readings))
        if finished.exit_status != first.exit_status or not compared:
            return Judgement(False, NOT_COMPARABLE, {
                "job": first.pk, "status": finished.exit_status, "n": len(compared)})
        if missing := sorted(set(known) - {pair.name for pair in compared}):
            return Judgement(False, gettext_noop(
                "%(n)d of %(all)d figures of job %(job)d are missing in the repetition, first "
                "%(name)s: they were not compared."),
                {"job": first.pk, "n": len(missing), "all": len(known), "name": missing[0]})
        worst = max(compared, key=lambda pair: pair.difference)
        facts = {"job": first.pk, "n": len(compared), "name": worst.name,
                 "difference": worst.difference, "shown": f"{100 * worst.difference:.4g}"}
        if worst.difference > finished.parameters["tolerance"]:
            return Judgement(False, DIFFERS, facts, facts)
        return Judgement(True, AGREES, facts, facts)


def _first(parameters: dict):
    from workers.models import Job

    return Job.objects.filter(pk=parameters["job"]).select_related("node").first()

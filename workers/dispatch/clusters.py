"""Steps of jobs on a cluster: handed over, waiting in its queue, ended by it."""

from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from workers import schedulers
from workers.dispatch import endings
from workers.models import Job, JobState
from workers.nodes.reachability import SchedulerAway
from workers.remote.replies import RemoteState
from workers.remote.scheduled import Scheduled
from workers.schedulers.base import Sentences

REFUSED = gettext_noop("The cluster's scheduler refused the job: %(why)s")
LASTING = ("job_id", "nodes", "cards", "cards_source", "has_begun", "disruption", "image",
           "accounting")
# A controller serves thousands of jobs: seconds between two looks, by minutes since the queueing.
PAUSES = ((0.5, 1), (2, 2), (10, 5), (60, 10))
LONGEST_PAUSE = 20
# Shared storage may show the exit status later than Slurm shows the end.
LOOKS_FOR_STATUS = 5


def is_handed_over(job: Job) -> bool:
    """Whether a scheduler has the job already: it is asked about, never submitted again."""
    return "scheduler" in job.results and job.state == JobState.STARTING


def started(job: Job, words: list[str]) -> dict | None:
    """What a scheduler's words about a start mean for the row; None for words of a plain node.

    Raises SchedulerAway where it could not be asked.
    """
    if words[:1] == ["submitted"]:
        number = words[1] if len(words) > 1 else ""
        return {"results": {**job.results, "scheduler": {"job_id": number}}, "troubles": 0,
                "message": "", "message_values": {},
                "next_step_at": timezone.now() + timedelta(seconds=1)}
    if words[:2] == ["scheduler", "refused"]:
        why = " ".join(words[2:])
        return endings.failed(REFUSED, cause=why, why=why)
    if words[:1] == ["scheduler"]:
        raise SchedulerAway(" ".join(words[2:]))
    return None


def news(job: Job, state: RemoteState, now: datetime) -> dict:
    """The changes that a scheduler's word brings; none for a job of a plain node."""
    reported = state.scheduled
    if reported is None:
        return {}
    changes: dict = {"next_step_at": now + _pause(job, now)}
    stored = {"scheduler": _scheduler_result(job, reported),
              **({"cards": reported.cards} if reported.cards else {})}
    if any(job.results.get(name) != value for name, value in stored.items()):
        changes["results"] = {**job.results, **stored}
    if job.state == JobState.STARTING:
        changes |= _begun_or_waiting(_sentences(job), reported, now)
    return changes


def _sentences(job: Job) -> Sentences:
    return schedulers.of(job.node).sentences


def _scheduler_result(job: Job, reported: Scheduled) -> dict:
    """What was reported now; what an earlier answer alone reported stays."""
    known = job.results.get("scheduler", {})
    lasting = {name: known[name] for name in LASTING if name in known}
    return {**lasting, **reported.as_json()}


def _begun_or_waiting(sentences: Sentences, reported: Scheduled, now: datetime) -> dict:
    if not sentences.is_waiting(reported):
        return {"state": JobState.RUNNING, "started_at": now, "message": "", "message_values": {}}
    message, values = sentences.waiting(reported)
    return {"message": message, "message_values": values}


def _pause(job: Job, now: datetime) -> timedelta:
    minutes = (now - (job.started_at or job.created_at)).total_seconds() / 60
    seconds = next((pause for limit, pause in PAUSES if minutes < limit), LONGEST_PAUSE)
    return timedelta(seconds=seconds)


def outlives_its_end(job: Job, state: RemoteState) -> bool:
    """Whether the cluster has ended the job and something of it still runs, such as a container
    that its KILL did not reach."""
    return (state.scheduled is not None and state.process == "orphans"
            and state.exit_status is None and _sentences(job).is_over(state.scheduled))


def without_status(job: Job, state: RemoteState) -> dict:
    """For a job of a cluster that runs no more and left no exit status: its files are fetched, and
    the scheduler's reason becomes the result. None of it for a job of a plain node."""
    if state.scheduled is None:
        return {}
    if _sentences(job).ended_itself(state.scheduled) and job.troubles < LOOKS_FOR_STATUS:
        return {"troubles": job.troubles + 1}
    return {"state": JobState.COLLECTING, "next_step_at": timezone.now(), "troubles": 0}


def true_end(job: Job, judged: dict) -> dict:
    """The changes of a job's end with the scheduler's cause in place of the kind's, where it knows
    a truer one; what the kind said is kept."""
    stored = job.results.get("scheduler")
    if stored is None:
        return judged
    reported, sentences = Scheduled(**stored), _sentences(job)
    found = sentences.ended(reported) if job.exit_status is None \
        else sentences.overrides(reported) if job.exit_status else None
    if found is None:
        return judged
    state, message, values = found
    results = {**judged["results"],
               "judged": {"message": judged["message"], "values": judged["message_values"]}}
    return {**judged, "state": state, "message": message, "message_values": values,
            "results": results, "technical_cause": reported.output or judged["technical_cause"]}


def why_another_state(job: Job) -> str:
    """Why a scheduler's word for an ended job is another than ours; "" where they agree."""
    stored = job.results.get("scheduler")
    if not stored or not stored.get("state") or not job.is_final or not job.node.scheduler:
        return ""
    reported, sentences = Scheduled(**stored), _sentences(job)
    if not sentences.is_over(reported):
        return _("So it was when it was last asked; the end was seen on the node itself.")
    if sentences.ended_itself(reported):
        is_failure = "FAIL" in reported.state.upper()
        return "" if is_failure == (job.state != JobState.SUCCEEDED) else _(
            "That is its word on the script that watches the command; whether the job succeeded "
            "is told by the exit status of the command and by its files.")
    if job.state == JobState.SUCCEEDED:
        return _("That came after the command had ended well.")
    if job.state == JobState.TIMED_OUT and sentences.ended(reported)[0] == JobState.CANCELLED:
        return _("It was ended there for the desk, at the time limit of the job.")
    return ""

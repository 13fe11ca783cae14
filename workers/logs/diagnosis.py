"""Why a job failed, as an engineer would find it in the log."""

import signal
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext

from toolreaders.causes import cann_codes
from toolreaders.causes.log_causes import CAUSES, SYMPTOMS, WAITING, WHILE_RUNNING
from toolreaders.causes.log_parts import Part, parts_of
from toolreaders.causes.search import Diagnosis, LogSearch
from workers.labels.cause_words import cause_words
from workers.logs import live_log
from workers.logs.job_causes import (
    LIMIT_OPEN,
    LIMIT_SILENT,
    LIMIT_UNDER_WAY,
    OOM_KILLER,
    SIGNALLED,
    STATUS_ONLY,
    TIME_LIMIT,
)
from workers.logs.runtime_causes import RUNTIME_CAUSES
from workers.models import Job, JobState
from workers.nodes import absence_causes
from workers.rules.citations import CITED

ALL_CAUSES = (*RUNTIME_CAUSES, *CAUSES, *cann_codes.CODE_CAUSES, *WAITING, *SYMPTOMS, OOM_KILLER,
              SIGNALLED, *TIME_LIMIT, *STATUS_ONLY.values())
BY_CODE = {(cause.code, cause.headline): cause for cause in ALL_CAUSES}
SILENT = timedelta(minutes=5)  # no line for so long before a time limit: it waited


def of_job(job: Job) -> Diagnosis | None:
    """The cause that stands in the job's log, or that its exit status proves."""
    return find(parts_of(live_log.pieces(job)), job.exit_status,
                job.remote.get("oom_kills", 0))


def of_time_limit(job: Job, limit: datetime) -> Diagnosis:
    """Why a job that was stopped at its time limit had not ended: a cause in its log, or how far
    it had come, or since when it was silent."""
    parts = parts_of(live_log.pieces(job))
    end = parts[-1].end if parts else ""
    quiet = limit - (job.log_grew_at or job.started_at or limit)
    if found := LogSearch(parts).cause(RUNTIME_CAUSES, WHILE_RUNNING):
        return found
    if quiet >= SILENT:
        return Diagnosis(LIMIT_SILENT, {"minutes": quiet // timedelta(minutes=1)}, excerpt=end)
    if job.progress_total:
        return Diagnosis(LIMIT_UNDER_WAY, {"done": job.progress_done, "total": job.progress_total},
                         excerpt=end)
    return Diagnosis(LIMIT_OPEN, {}, excerpt=end)


def first_line(job: Job) -> int | None:
    """The line of the log that shows a known cause; also while the job runs. None without one."""
    found = find(parts_of(live_log.pieces(job)), job.exit_status)
    return found.line if found else None


def find(parts: list[Part], status: int | None, oom_kills: int = 0) -> Diagnosis | None:
    """The first of the known causes that the parts of a log show."""
    found = LogSearch(parts).cause(RUNTIME_CAUSES, status=status)
    is_killed = status == 128 + signal.SIGKILL or (
        found and found.values.get("signal") == str(int(signal.SIGKILL)))
    if oom_kills and is_killed:
        return Diagnosis(OOM_KILLER, {"kills": oom_kills}, *(
            (found.line, found.quote, found.excerpt) if found else ()))
    return found or _of_status(status, parts)


def presented(job: Job) -> dict[str, Any] | None:
    """What the page says beside the headline, in the active language; None without a diagnosis.

    `kind_says` is the sentence with which the job's kind judged it; of a job whose node does not
    answer, why that is, as far as the error tells.
    """
    if job.state == JobState.UNKNOWN:
        absence = absence_causes.cause_of(job.technical_cause)
        return absence and {"line": None, "quote": "", "remedy": gettext(absence.remedy),
                            "source": "", "fault": "", "versions": "",
                            "kind_says": gettext(absence.sentence)}
    stored = job.results.get("diagnosis")
    if not stored:
        return None
    if "remedy" not in stored and (cause := BY_CODE.get((stored["cause"], stored["headline"]))):
        stored = stored | {"remedy": cause.remedy, "source": cause.source, "fault": cause.fault}
    words = cause_words(stored)
    return words | {"source": CITED.get(words["source"], words["source"]),
                    "kind_says": _filled(stored["judged"])}


def _filled(sentence: dict) -> str:
    try:
        return gettext(sentence["message"]) % sentence["values"]
    except (KeyError, TypeError, ValueError):
        return sentence["message"]


def _of_status(status: int | None, parts: list[Part]) -> Diagnosis | None:
    if status in STATUS_ONLY:
        return Diagnosis(STATUS_ONLY[status], {}, excerpt=parts[-1].end if parts else "")
    if status is None or status <= 128 or status - 128 not in list(signal.Signals):
        return None
    number = signal.Signals(status - 128)
    return Diagnosis(SIGNALLED, {"signal": int(number), "name": number.name},
                     excerpt=parts[-1].end if parts else "")

"""Which tables of this app the audit log tracks.

Workers write jobs and nodes many times a minute: where a log has been read to, when somebody was
last heard of, whose turn it is. That is no statement of anybody and makes no entry. How a job went
becomes one with its end.
"""

from engagements.audit_rows.tracking import FinalState, do_not_track, track_rows
from workers import models as own
from workers.models.job import FINAL_STATES

PROGRESS = ("progress_done", "progress_total", "log_offset", "log_stored", "log_grew_at",
            "alarms", "last_loss")  # read from the log, which becomes an artifact
DISPATCH = ("claim_token", "claimed_until", "next_step_at", "heartbeat_at", "remote", "troubles",
            "state_before_unknown", "folder_kb", "folder_removed_at")
ENDING = ("state", "started_at", "finished_at", "exit_status", "message", "message_values",
          "technical_cause", "results")
SECRET = ("private_key", "passphrase")
MEASURED = ("lease_counter", "scratch_used_mb", "scratch_free_mb", "disk_full_at",
            "clock_offset_seconds",
            "shell_seconds", "unreachable_since", "trouble", "last_seen_at", "last_error",
            "machine_id", "boot_id", "scheduler_facts", "sampled_at", "offers",
            "sessions_at_once",
            "software")  # what a node last said of itself; what a job used is in its readings

track_rows(own.Job, without=[*PROGRESS, *DISPATCH],
           final_state=FinalState("state", FINAL_STATES, frozenset(ENDING)), is_numbered=True)
track_rows(own.JobInput, without=["arrived", "size", "files"])  # they grow on the way
track_rows(own.Gang, without=["rendezvous", "failing_since"])
track_rows(own.Node, without=[*SECRET, "scheduler_secret", *MEASURED])
track_rows(own.NodeLogin, without=[*SECRET, "refused_at", "refused_cause"], is_confidential=True)
track_rows(own.NodeImport, own.NodeReservation, own.CardQuota, own.Runtime, own.RuntimeChoice)
track_rows(own.Artifact, is_numbered=True)
track_rows(own.CardLease)  # which cards a job had, and when
track_rows(own.StoredReading, own.JobChain, own.ChainRun, own.ChainStep,
           own.ApiRoute, own.JobTemplate)
do_not_track({
    own.Card: "as the node last showed it; the reading it was taken from is tracked",
    own.CardAlarm: "what looks at a card or node showed; no figure or verdict rests on it",
    own.ImportedNode: "how far the first look is; confirming a host key is recorded",
    own.RuntimeSoftware: "what jobs in it last read; what a job used is in its readings",
    own.PendingUpload: "bytes on their way; the artifact that becomes of them is tracked",
    own.UploadPart: "bytes on their way; the artifact that becomes of them is tracked",
    own.ReadingRequest: "who reads a file when; what is read and the refusal's note are tracked",
    own.JobLog: "how far a log has been read; the log becomes an artifact",
    own.DiskSample: "how full a disk was; no figure or verdict rests on it",
    own.NodeSample: "how busy cards were; measurements come from readings of artifacts",
    own.NodeContact: "when the node answered and when not; no figure or verdict rests on it",
})

from workers.models.api_route import ApiRoute
from workers.models.artifact import Artifact, Masking, StoredReading
from workers.models.chain import ChainRun, ChainStep, JobChain
from workers.models.gang import Gang
from workers.models.job import PURPOSE_OF_STAGE, CardLease, Job, JobState, Priority, Purpose
from workers.models.job_input import JobInput
from workers.models.job_log import JobLog
from workers.models.job_template import JobTemplate
from workers.models.login import NodeLogin
from workers.models.node import Card, Node, NodeContact, SchedulerKind, Trouble
from workers.models.node_calendar import CardQuota, NodeReservation
from workers.models.node_import import ImportedNode, NodeImport
from workers.models.node_sample import CARD_VALUES, CardAlarm, DiskSample, NodeSample
from workers.models.pending_upload import PendingUpload, UploadPart
from workers.models.reading_request import ReadingRequest, ReadingState
from workers.models.runtime import (
    IN_CONTAINERS,
    Runtime,
    RuntimeChoice,
    RuntimePlace,
    RuntimeSoftware,
)

__all__ = ["CARD_VALUES", "IN_CONTAINERS", "PURPOSE_OF_STAGE", "ApiRoute", "Artifact", "Card",
           "CardAlarm", "CardLease", "CardQuota", "ChainRun", "ChainStep", "DiskSample", "Gang",
           "ImportedNode", "Job", "JobChain", "JobInput", "JobLog", "JobState", "JobTemplate",
           "Masking", "Node", "NodeContact", "NodeImport", "NodeLogin", "NodeReservation",
           "NodeSample", "PendingUpload", "Priority", "Purpose", "ReadingRequest", "ReadingState",
           "Runtime", "RuntimeChoice", "RuntimePlace", "RuntimeSoftware", "SchedulerKind",
           "StoredReading", "Trouble", "UploadPart"]

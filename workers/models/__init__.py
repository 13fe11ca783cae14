from workers.models.artifact import Artifact, StoredReading
from workers.models.chain import ChainRun, ChainStep, JobChain
from workers.models.gang import Gang
from workers.models.job import CardLease, Job, JobState, Priority
from workers.models.login import NodeLogin
from workers.models.node import Card, Node, NodeContact, Trouble

__all__ = ["Artifact", "Card", "CardLease", "ChainRun", "ChainStep", "Gang", "Job", "JobChain",
           "JobState", "Node", "NodeContact", "NodeLogin", "Priority", "StoredReading", "Trouble"]

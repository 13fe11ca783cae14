from workers.models.artifact import Artifact, StoredReading
from workers.models.job import CardLease, Job, JobState
from workers.models.node import Card, Node

__all__ = ["Artifact", "Card", "CardLease", "Job", "JobState", "Node", "StoredReading"]

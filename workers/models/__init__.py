from workers.models.artifact import Artifact, StoredReading
from workers.models.chain import ChainRun, ChainStep, JobChain
from workers.models.job import CardLease, Job, JobState, Priority
from workers.models.login import NodeLogin
from workers.models.node import Card, Node, NodeContact, Trouble
from workers.models.node_import import ImportedNode, NodeImport

__all__ = ["Artifact", "Card", "CardLease", "ChainRun", "ChainStep", "ImportedNode", "Job",
           "JobChain", "JobState", "Node", "NodeContact", "NodeImport", "NodeLogin", "Priority",
           "StoredReading", "Trouble"]

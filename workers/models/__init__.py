from workers.models.api_route import ApiRoute
from workers.models.artifact import Artifact, StoredReading
from workers.models.chain import ChainRun, ChainStep, JobChain
from workers.models.job import CardLease, Job, JobState, Priority
from workers.models.login import NodeLogin
from workers.models.node import Card, Node, NodeContact, Trouble

__all__ = ["ApiRoute", "Artifact", "Card", "CardLease", "ChainRun", "ChainStep", "Job",
           "JobChain", "JobState", "Node", "NodeContact", "NodeLogin", "Priority",
           "StoredReading", "Trouble"]

"""What Slurm prints, and what the scripts of a visit are; without a Slurm."""

import json
from types import SimpleNamespace

import pytest
from django.utils.translation import override

from engagements.errors import InvalidInput
from engagements.text.nested_sentences import sentence_of
from workers.dispatch import clusters
from workers.labels.job_results import scheduler_facts
from workers.models import Job, JobState, Node
from workers.nodes.reachability import SchedulerAway
from workers.remote.scheduled import Scheduled
from workers.schedulers import options, slurm_answers, slurm_options, slurm_sentences
from workers.schedulers.slurm import Slurm

# As squeue, scontrol and sacct of Slurm 22.05 printed them.
WAITING = """\
desk start desk-job-1-1-aa submitted 7
desk slurm desk-job-2-1-bb|8|PENDING|Resources|1795624420|
desk slurm desk-job-1-1-aa|7|RUNNING|None|1795538020|vm
desk slurm-given desk-job-1-1-aa job=7 nodes=vm cards=0,1 source=scontrol
"""
ENDED = """\
desk slurm desk-job-3-1-cc|9|CANCELLED|None|1795538020|vm
desk scontrol JobId=9 JobName=desk-job-3-1-cc UserId=root(0) JobState=CANCELLED ExitCode=0:9 \
RunTime=00:00:03
desk sacct desk-job-3-1-cc|9|CANCELLED by 1000|0:9|vm|3|billing=1,cpu=1,gres/npu=2,node=1
desk sacct desk-job-4-1-dd|10|TIMEOUT|0:0|n[1-2]|61|cpu=2
desk slurm-output desk-job-4-1-dd slurmstepd: error: *** JOB 10 CANCELLED DUE TO TIME LIMIT ***
"""


def test_rows_of_the_queue():
    printed = slurm_answers.parse(WAITING)
    first, second = printed["desk-job-1-1-aa"], printed["desk-job-2-1-bb"]
    assert (first.job_id, first.state, first.nodes, first.cards) == ("7", "RUNNING", "vm", [0, 1])
    assert (first.reason, first.expected_start, first.has_begun) == ("", None, True)
    assert (second.state, second.reason, second.nodes) == ("PENDING", "Resources", "")
    assert second.expected_start == 1795624420


def test_records_of_ended_jobs():
    printed = slurm_answers.parse(ENDED)
    assert printed["desk-job-3-1-cc"].exit_code == "0:9"
    assert slurm_answers.canceller(printed["desk-job-3-1-cc"]) == "1000"
    forgotten = printed["desk-job-4-1-dd"]  # by the controller, not by the accounts
    assert (forgotten.state, forgotten.nodes, forgotten.job_id) == ("TIMEOUT", "n[1-2]", "10")
    assert "DUE TO TIME LIMIT" in forgotten.output
    without = slurm_answers.parse("desk slurm a|1|FAILED|x|N/A|\ndesk sacct-away is disabled\n")
    assert without["a"].accounting_error == "is disabled"


def test_of_two_jobs_with_one_name_the_one_that_runs_counts():
    rows = ["desk slurm a|5|COMPLETED|None|N/A|vm", "desk slurm a|4|RUNNING|None|N/A|vm"]
    for lines in (rows, rows[::-1]):
        assert slurm_answers.parse("\n".join(lines))["a"].job_id == "4"


def test_a_log_cannot_speak_for_slurm():
    """The lines of the queue come before the first log; what a log holds is a log."""
    job = SimpleNamespace(pk=1, directory_name="desk-job-1-1-aa", log_offset=0)
    log = b"desk slurm desk-job-1-1-aa|7|FAILED|None|N/A|vm\ndesk slurm-away nobody\n"
    state = (b"desk slurm desk-job-1-1-aa|7|RUNNING|None|N/A|vm\n"
             b"desk desk-job-1-1-aa present=yes status=none process=alive beat=0 "
             b"size=%d log=%d boot=b now=1 oom=0\n" % (len(log), len(log)))
    states, _end = Slurm(Node()).read_states(state + log, [job])
    assert (states[1].scheduled.state, states[1].chunk) == ("RUNNING", log)


def test_a_controller_that_is_away_is_said():
    with pytest.raises(SchedulerAway, match="Unable to contact"):
        Slurm(Node()).read_states(
            b"desk slurm-away slurm_load_jobs error: Unable to contact slurm controller\n", [])


@pytest.mark.parametrize(("printed", "state", "sentence"), [
    (Scheduled("9", "TIMEOUT", nodes="n1"), JobState.TIMED_OUT, "job 9 on n1"),
    (Scheduled("9", "OUT_OF_MEMORY"), JobState.FAILED, "OUT_OF_MEMORY"),
    (Scheduled("9", "NODE_FAIL", nodes="n1"), JobState.LOST, "compute node failed"),
    (Scheduled("9", "PREEMPTED"), JobState.FAILED, "for a job that comes first"),
    (Scheduled("9", "CANCELLED"), JobState.CANCELLED, "does not tell by whom"),
    (Scheduled("9", "CANCELLED", accounting={"state": "CANCELLED by 1000"}), JobState.CANCELLED,
     "number 1000"),
    (Scheduled("9", "FAILED", "NonZeroExitCode"), JobState.FAILED, "did not reach the job's"),
    (Scheduled("9", "FAILED", "JobLaunchFailure", has_begun=True), JobState.FAILED,
     "JobLaunchFailure"),
    (Scheduled("9", "COMPLETED", has_begun=True), JobState.LOST, "runs a command once"),
    (Scheduled(), JobState.LOST, "does not know the job"),
])
def test_endings(printed, state, sentence):
    ended, message, values = slurm_sentences.ended(printed)
    with override("en"):
        assert (ended, sentence in sentence_of(message, values)) == (state, True)


@pytest.mark.parametrize(("reason", "part"), [
    ("Resources", "are in use"), ("QOSMaxCpuPerUserLimit", "a limit of its account"),
    ("ReqNodeNotAvail, UnavailableNodes:n7", "down or reserved"), ("Sp ecial", "“Sp ecial”"),
    ("Nodes required for job are DOWN, DRAINED or reserved", "DRAINED"), ("", "not said why")])
def test_why_a_job_waits(reason, part):
    with override("en"):
        shown = sentence_of(*slurm_sentences.waiting(Scheduled("9", "PENDING", reason)))
    assert shown.startswith("Waiting in Slurm's queue as its job 9: ")
    assert part in shown


def test_an_exit_status_is_believed_unless_slurm_knows_a_truer_cause():
    judged = {"state": "failed", "message": "status", "message_values": {}, "technical_cause": "",
              "results": {}}
    node = Node(scheduler="slurm")
    killed = Job(node=node, exit_status=137,
                 results={"scheduler": Scheduled("9", "OUT_OF_MEMORY").as_json()})
    assert "main memory" in clusters.true_end(killed, judged)["message"]
    good = Job(node=node, exit_status=0,
               results={"scheduler": Scheduled("9", "COMPLETED").as_json()})
    assert clusters.true_end(good, judged) is judged
    assert clusters.true_end(Job(exit_status=1), judged) is judged


@pytest.mark.parametrize(("ours", "theirs", "part"), [
    ("failed", "RUNNING", "when it was last asked"), ("failed", "COMPLETED", "script that watches"),
    ("succeeded", "FAILED", "script that watches"), ("timed_out", "CANCELLED", "time limit"),
    ("succeeded", "CANCELLED", "had ended well"), ("succeeded", "COMPLETED", ""),
    ("failed", "FAILED", ""), ("cancelled", "CANCELLED", ""), ("running", "PENDING", "")])
def test_a_state_that_contradicts_ours_comes_with_a_word_why(ours, theirs, part):
    job = Job(node=Node(scheduler="slurm"), state=ours,
              results={"scheduler": Scheduled("9", theirs).as_json()})
    with override("en"):
        why = clusters.why_another_state(job)
        [shown] = [value for name, value in scheduler_facts(job, why) if name == "Slurm: state"]
    assert (part in why, bool(why), shown.startswith(f"{theirs} {why}".strip())) == (
        True, bool(part), True)


def test_the_words_for_sbatch():
    node = Node(scheduler="slurm", scheduler_options={
        "partition": "npu", "gres": "npu:910b", "nodes": 2, "words": "--exclusive --comment='a b'"})
    job = Job(pk=3, node=node, cards_wanted=4, timeout_seconds=3600, token="aa")
    words = Slurm(node)._words(job)
    assert words == ["npu:910b", "--partition=npu", "--exclusive", "--comment=a b",
                     "--gres=npu:910b:4", "--nodes=2", "--time=65"]
    job.cards_wanted = 0
    assert Slurm(node)._words(job)[0] == ""


@pytest.mark.parametrize("found", [
    {"words": "--array=1-9"}, {"words": "-J x"}, {"words": "echo"}, {"words": "--requeue"},
    {"words": "'open"}, {"partition": "a b"}, {"nodes": "many"}, {"programs": "../bin"},
    {"colour": "red"}, {"minutes": -1}])
def test_options_that_cannot_be_used(found):
    with pytest.raises(InvalidInput):
        options.cleaned(slurm_options.OPTIONS, found)


def test_empty_options_are_left_out():
    found = options.cleaned(slurm_options.OPTIONS, {
        "partition": " npu ", "account": "", "nodes": "2", "minutes": 0,
        "words": "--mem=8G --constraint=910b"})
    assert found == {"partition": "npu", "nodes": 2, "words": "--mem=8G --constraint=910b"}
    assert json.dumps(found)


def test_partitions():
    text = ("desk version slurm-wlm 22.05.8\ndesk partition npu*|up|1|idle|1-00:00:00|npu:8\n"
            "desk accounting no\n")
    assert slurm_answers.cluster(text) == {
        "version": "slurm-wlm 22.05.8", "has_accounting": False, "partitions": [
            {"name": "npu*", "up": "up", "nodes": "1", "state": "idle",
             "time_limit": "1-00:00:00", "gres": "npu:8"}]}

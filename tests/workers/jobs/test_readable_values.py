"""Secrets among parameters and commands: whole for who gave them, masked for everybody else."""

import pytest
from django.utils import timezone
from django.utils.translation import override
from rest_framework.test import APIClient

from engagements.errors import InvalidInput
from toolreaders.masking import MASK, mask_words
from workers import kinds
from workers.jobs import choices
from workers.kinds import Parameter
from workers.models import ChainRun, Job, JobChain, JobState
from workers.services.chains import save_chain
from workers.services.jobs import queue_job

SECRET = "S3cr3tValue77Qx"
WORDS = ["--user", "me", "--password", SECRET, f"--hf-token={SECRET}", "--tokenizer", "qwen",
         f"HF_TOKEN={SECRET}", "--seq-length", "4096"]
SHOWN = ["--user", "me", "--password", MASK, f"--hf-token={MASK}", "--tokenizer", "qwen",
         f"HF_TOKEN={MASK}", "--seq-length", "4096"]


def test_words_of_a_command_are_masked_each_by_its_name():
    assert mask_words(WORDS) == SHOWN
    assert mask_words(["--password", "--verbose", "yes"]) == ["--password", "--verbose", "yes"]


@pytest.fixture
def job(people, engagement, node):
    return Job.objects.create(
        kind="adapt.smoke_train", engagement=engagement, node=node, created_by=people["consultant"],
        state=JobState.SUCCEEDED, finished_at=timezone.now(),
        parameters={"script": "x.py", "arguments": WORDS},
        command=["python3", "x.py", *WORDS])


@pytest.mark.django_db
def test_api_and_page_of_a_job_show_secrets_to_its_author_only(people, job, client):
    api = APIClient()
    for role, words in (("consultant", WORDS), ("manager", SHOWN)):
        api.force_authenticate(people[role])
        shown = api.get(f"/api/v1/jobs/{job.pk}/").json()
        assert (shown["parameters"]["arguments"], shown["command"][2:]) == (words, words)
        client.force_login(people[role])
        page = client.get(f"/jobs/{job.pk}/").content.decode()
        assert (SECRET in page) == (role == "consultant")


@pytest.mark.django_db
def test_forms_of_others_begin_without_them(people, job, client):
    address = f"/jobs/new/?kind=adapt.smoke_train&engagement={job.engagement.code}&copy_of={job.pk}"
    for role, is_there in (("consultant", True), ("manager", False)):
        client.force_login(people[role])
        page = client.get(address).content.decode()
        assert "x.py" in page
        assert (SECRET in page) == is_there
    assert choices.values_of_run(job, kinds.of_job(job), None) == {"script": "x.py"}


@pytest.mark.django_db
def test_chains_and_runs_too(people, engagement, node, client):
    from engagements.services import add_model

    model = add_model(actor=people["manager"], engagement=engagement, code="DET", name="DET")
    steps = [{"kind": "adapt.smoke_train", "name": "train", "condition": None,
              "parameters": {"script": "x.py", "arguments": WORDS}}]
    chain = JobChain.objects.create(name="c", steps=steps, created_by=people["consultant"])
    run = ChainRun.objects.create(chain=chain, model=model, node=node, steps=steps,
                                  given={"api_key": SECRET}, started_by=people["consultant"])
    run.jobs.create(position=0, job=Job.objects.create(kind="adapt.smoke_train",
                                                       created_by=people["consultant"]))
    api = APIClient()
    for role, is_there in (("consultant", True), ("manager", False)):
        api.force_authenticate(people[role])
        client.force_login(people[role])
        for address in (f"/api/v1/job-chains/{chain.pk}/", f"/api/v1/chain-runs/{run.pk}/"):
            assert (SECRET in str(api.get(address).json())) == is_there, address
        assert (SECRET in client.get(f"/jobs/chains/{chain.pk}/").content.decode()) == is_there


KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn\n-----END OPENSSH PRIVATE KEY-----"
REFERENCES = ["--password $DB_PASSWORD", "--hf-token=${HF_TOKEN}", "api_key=$(cat ~/.key)",
              "-H 'Authorization: Bearer $TOKEN'", "--api-key EMPTY", "--pad-token '<pad>'"]


@pytest.mark.parametrize("words", [
    f"--password {SECRET}", f"--hf-token={SECRET}", f"HF_TOKEN={SECRET}",
    "https://me:secret@host/x", f"-H 'Authorization: Bearer {SECRET}'", f"'{KEY}'"])
def test_no_job_and_no_chain_takes_one(people, engagement, node, words):
    """One rule for whatever would keep it: rows, API, audit log, backups, evidence."""
    from engagements.services import add_model

    model = add_model(actor=people["manager"], engagement=engagement, code="DET", name="DET")
    parameters = {"script": "x.py", "arguments": words}
    with override("en"), pytest.raises(InvalidInput, match=r"password or key: “.*\*{6}"):
        queue_job(actor=people["consultant"], parameters=parameters, engagement=engagement,
                  kind="adapt.smoke_train", model=model, node=node)
    with override("en"), pytest.raises(InvalidInput, match="password or key"):
        save_chain(actor=people["consultant"], name="c", steps=[
            {"kind": "adapt.smoke_train", "name": "train", "parameters": parameters}])
    assert not Job.objects.exists()


def test_a_script_keeps_references_to_them_and_runs_as_it_is_shown():
    script = Parameter("script", "Script", "script")
    text = "\n".join(f"run {words}" for words in REFERENCES)
    assert script.clean(text) == text
    for secret in (f"export PASSWORD={SECRET}", KEY, f"mysql --password {SECRET}"):
        with override("en"), pytest.raises(InvalidInput, match="Set a variable in a set-up"):
            script.clean(f"set -e\n{secret}\n")


@pytest.mark.parametrize(("text", "is_option"), [
    ("--config=/etc/passwd", True), ("-o", True), ("-", True), ("-4", False), ("a-b", False)])
def test_no_text_is_read_as_an_option(text, is_option):
    parameter = Parameter("dtype", "Type")
    if is_option:
        with override("en"), pytest.raises(InvalidInput, match="read as an option"):
            parameter.clean(text)
    else:
        assert parameter.clean(text) == text

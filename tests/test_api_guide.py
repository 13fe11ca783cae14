"""docs/api.md: its program does the main job, and both languages say the same."""

import functools
import re
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.core.wsgi import get_wsgi_application

from engagements.models import Role
from engagements.services import create_token
from workers.dispatch import runner
from workers.models import Job, JobState

DOCS = Path(settings.BASE_DIR) / "docs"


def programs(name: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (DOCS / name).read_text(), re.DOTALL)


def test_both_languages_show_the_same_program_and_chapters():
    english, chinese = ((DOCS / name).read_text() for name in ("api.md", "api.zh-CN.md"))
    assert programs("api.md") == programs("api.zh-CN.md")
    assert english.count("\n## ") == chinese.count("\n## ") > 5
    assert set(re.findall(r"`[^`\n]+`", chinese)) <= set(re.findall(r"`[^`\n]+`", english))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_program_does_the_main_job(people, engagement, node, monkeypatch, capsys):
    _token, key = create_token(actor=people[Role.CONSULTANT], owner=people[Role.CONSULTANT],
                               name="partner", scope="jobs", engagement=engagement)
    monkeypatch.setenv("DESK_URL", "http://localhost")
    monkeypatch.setenv("DESK_TOKEN", key)
    monkeypatch.setattr(httpx, "Client", functools.partial(
        httpx.Client, transport=httpx.WSGITransport(get_wsgi_application())))
    monkeypatch.setattr("time.sleep", lambda _seconds: runner.drive(Job.objects.get()))
    [program] = programs("api.md")
    exec(compile(program.replace("bms-03", node.name), "api.md", "exec"), {})
    job = Job.objects.get()
    shown = capsys.readouterr().out
    assert (job.state, job.engagement) == (JobState.SUCCEEDED, engagement)
    assert shown.startswith("succeeded ")
    assert {file.name for file in job.artifacts.all()} <= set(shown.split())

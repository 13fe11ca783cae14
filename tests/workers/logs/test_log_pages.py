"""The page of numbered lines: stack traces are folded, the first known error is a link away."""

import pytest
from django.urls import reverse
from django.utils import translation

from engagements.models import Role
from workers.labels.line_charts import line_chart
from workers.logs import live_log, numbered_lines, progress
from workers.models import Job, JobState, Node

pytestmark = pytest.mark.django_db
TRACE = ("[rank3]: Traceback (most recent call last):\n"
         '[rank3]:   File "train.py", line 3, in <module>\n[rank3]:     main()\n'
         '[rank3]:   File "train.py", line 2, in main\n'
         "[rank3]: ModuleNotFoundError: No module named 'apex'\nafter\n")


@pytest.fixture
def failed(people, engagement):
    node = Node.objects.create(name="n1", host="127.0.0.1", username="x", state="ready",
                               cards_total=8)
    text = ("chatter\n" * 500 + TRACE).encode()
    job = Job.objects.create(kind="env.npu_info", engagement=engagement, node=node, exit_status=1,
                             state=JobState.RUNNING, log_stored=len(text),
                             created_by=people[Role.CONSULTANT])
    live_log.path(job).write_bytes(text)
    return job


def test_first_error_leads_to_the_line_of_the_cause(failed, people, client):
    client.force_login(people[Role.CONSULTANT])
    page = reverse("workers:job_log_lines", args=[failed.pk])
    answer = client.get(f"{page}?line=first-error")
    assert answer["Location"] == f"{page}?line=505#L505"
    text = client.get(answer["Location"]).content.decode()
    assert (text.count("<details"), text.count('id="L50')) == (1, 7)
    assert 'class="fw-bold text-red">505' in text


def test_log_without_a_known_cause_says_so(failed, people, client):
    client.force_login(people[Role.CONSULTANT])
    live_log.path(failed).write_bytes(b"chatter\n" * 9)
    page = reverse("workers:job_log_lines", args=[failed.pk])
    answer = client.get(f"{page}?line=first-error")
    assert answer["Location"] == reverse("workers:job", args=[failed.pk])


def test_frames_are_folded_and_the_exception_is_not(failed):
    blocks = numbered_lines.blocks_of(numbered_lines.around(failed, 505))
    assert [(block.is_trace, len(block.lines)) for block in blocks] == [
        (False, 96), (True, 4), (False, 2)]


def test_every_series_of_a_growing_log_is_drawn(failed, people, client):
    lines = "".join(f" iteration {n}/9 | elapsed time per iteration (ms): {800 + n}.5 | learning "
                    f"rate: 1.{n}E-05 | lm loss: {9 - n}.0E+00 | grad norm: {n}.25 |\n"
                    for n in range(1, 6)).encode()
    live_log.path(failed).write_bytes(lines)
    Job.objects.filter(pk=failed.pk).update(log_stored=len(lines))
    client.force_login(people[Role.CONSULTANT])
    answer = client.get(reverse("workers:job", args=[failed.pk]),
                        headers={"accept-language": "en"})
    charts = answer.context["series"]
    assert [chart.lines[0].last for chart in charts] == [4.0, 5.25, 1.5e-05, 805.5]
    assert [tick.text for tick in charts[0].x_ticks] == ["1", "2", "3", "4", "5"]
    assert [tick.text for tick in charts[0].y_ticks] == ["4", "5", "6", "7", "8"]
    assert charts[2].y_title == "Learning rate (× 10⁻⁵)"
    assert [tick.text for tick in charts[2].y_ticks] == ["1.1", "1.2", "1.3", "1.4", "1.5"]
    page = answer.content.decode()
    assert page.count("<polyline") == 4
    assert 'aria-label="Loss: Step 1 to 5, from 8 to 4; lowest 4, highest 8"' in page


@pytest.mark.parametrize(("lines", "axis", "first"), [
    ("{'loss': 3.0}\n{'loss': 2.0}\n", "Entry in the log", "1"),
    ("step 9/20 loss: 3.0\nstep 1/20 loss: 2.0\n", "Entry in the log", "1"),
    ("elapsed time per iteration (ms): 7.5 | iteration: 40 | loss: nan\n"
     "global_step=50, loss=2.0\nIter [60/90] loss: 1.0\n", "Step", "50")])
def test_steps_are_on_the_axis_where_every_line_tells_them(failed, lines, axis, first):
    live_log.path(failed).write_bytes(lines.encode())
    failed.log_stored = len(lines)
    with translation.override("en"):
        [chart] = progress.series_charts(failed)
    assert (chart.x_title, chart.x_ticks[0].text) == (axis, first)
    assert len(chart.lines[0].points.split()) == 2


def test_loss_by_step_is_drawn_over_the_baseline_of_the_same_steps(failed):
    live_log.path(failed).write_bytes(b"step: 10 loss: 3.0\nstep: 20 loss: 2.0\n")
    failed.log_stored = 38
    with translation.override("en"):
        [chart] = progress.series_charts(failed, lambda: [(5, 9.0), (10, 4.0), (20, 1.0)])
    assert [(line.name, line.texts) for line in chart.lines] == [
        ("This run", ["3", "2", "2", "3"]), ("Baseline", ["4", "1", "1", "4"])]


def test_chart_of_equal_values_has_an_axis():
    chart = line_chart("loss", "step", [1, 2, 3], [0.0, 0.0, 0.0])
    assert [tick.text for tick in chart.y_ticks] == ["-1", "-0.5", "0", "0.5", "1"]
    assert line_chart("loss", "step", [1], [2.0]) is None

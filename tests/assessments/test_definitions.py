"""Versions of metric definitions: the old one stays, and the effect is seen before storing."""

from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils.translation import override
from rest_framework.test import APIClient

from assessments import services
from assessments.definitions.standard_library import STANDARD
from assessments.definitions.versions import Sample, changes, effects
from assessments.models import MetricDefinition
from assessments.verdicts.computation import rule_of
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Role
from tests.assessments.conftest import curve
from toolreaders.curves.alignment import align
from toolreaders.verdicts.verdict import curve_figures

HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def _in_english(client):
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    with override("en"):
        yield



@pytest.fixture
def m01(definitions):
    return definitions["loss_mean_relative_error"]


SIGN = {"<": "lt", "≤": "le", ">": "gt", "≥": "ge"}


@pytest.mark.parametrize("entry", [e for e in STANDARD if set(e.source) & set(SIGN)],
                         ids=lambda entry: entry.code)
def test_a_definition_compares_as_the_criterion_it_cites(entry):
    assert {SIGN[letter] for letter in entry.source if letter in SIGN} == {entry.comparison}


def test_a_corrected_definition_is_the_next_version_of_what_is_stored(people, definitions):
    """An earlier release stored a strict < under the same code; what is signed with it stays."""
    old = definitions["score_degradation"]
    MetricDefinition.objects.filter(pk=old.pk).update(comparison="lt")
    services.load_standard_definitions()
    services.load_standard_definitions()
    rows = MetricDefinition.objects.filter(code=old.code).order_by("version")
    assert [(row.version, row.comparison, bool(row.change_note)) for row in rows] == [
        (1, "lt", False), (2, "le", True)]
    entry = AuditEntry.objects.filter(action="definition.load").latest("pk")
    assert entry.data["codes"] == ["score_degradation"]


def test_a_definition_that_the_firm_corrected_itself_is_left_alone(people, definitions):
    old = definitions["score_degradation"]
    MetricDefinition.objects.filter(pk=old.pk).update(comparison="lt")
    old.refresh_from_db()
    add(people, old, comparison="le")
    services.load_standard_definitions()
    assert MetricDefinition.objects.filter(code=old.code).count() == 2


def add(people, definition, **fields):
    return services.add_definition_version(actor=people[Role.MANAGER], definition=definition,
                                           **{"change_note": "agreed", **fields})


def test_the_library_covers_the_contract_s_metrics():
    quantities = {entry.quantity for entry in STANDARD}
    assert {"loss_curve", "score", "tokens_per_second", "weight_files", "changed_parameters",
            "peak_memory_mb", "samples_per_second", "tpot_ms", "min_cosine"} <= quantities
    fields = {f.name for f in MetricDefinition._meta.fields}
    for entry in STANDARD:
        stored = entry.stored()
        assert set(stored) <= fields
        assert all(stored[name] for name in ("name", "name_en", "formula", "formula_en", "source"))


@pytest.mark.parametrize("entry", STANDARD, ids=lambda entry: entry.code)
def test_a_definition_and_its_row_ask_for_the_same_arithmetic(entry, definitions):
    assert rule_of(definitions[entry.code]) == entry.rule()
    assert entry.comparison in MetricDefinition.Comparison.values
    assert entry.calculator in MetricDefinition.Calculator.values
    assert entry.is_curve is (entry.figure in curve_figures(align(curve([1.0]), curve([1.0]))))


def test_a_version_is_new_and_the_old_one_stays(people, m01):
    new = add(people, m01, first_step=21)
    m01.refresh_from_db()
    assert [(d.version, d.first_step) for d in MetricDefinition.objects.filter(code=m01.code)] == [
        (2, 21), (1, None)]
    assert (new.created_by, new.quantity) == (people[Role.MANAGER], m01.quantity)
    assert add(people, m01, first_step=31).version == 3
    entry = AuditEntry.objects.filter(action="definition.version").first()
    assert entry.data["note"] == "agreed"


def test_a_stored_version_cannot_be_saved(m01):
    m01.epsilon = 0.5
    with pytest.raises(WrongState):
        m01.save()


def test_signed_criteria_keep_their_version_and_hash(people, criterion, m01):
    before = services.content_hash(criterion.criteria_set)
    add(people, m01, first_step=21)
    criterion.refresh_from_db()
    assert (criterion.definition, services.content_hash(criterion.criteria_set)) == (m01, before)
    assert criterion.criteria_set.content_hash == before


@pytest.mark.parametrize("fields", [
    {}, {"first_step": 21, "change_note": " "}, {"first_step": 9, "last_step": 3},
    {"epsilon": -1.0}, {"epsilon": 2.0}, {"minimum_coverage": 0.0}, {"selection": "worst"},
    {"selection": "mean", "runs": 21}, {"code": "other"}, {"quantity": "score"}])
def test_what_is_no_version(people, m01, fields):
    with pytest.raises(InvalidInput):
        add(people, m01, **fields)
    assert MetricDefinition.objects.filter(code=m01.code).count() == 1


def test_who_may_not(people, m01):
    with pytest.raises(NotAllowed):
        services.add_definition_version(actor=people[Role.CONSULTANT], definition=m01,
                                        change_note="x", first_step=2)


def test_the_unit_follows_the_judged_figure(people, m01):
    assert add(people, m01, figure="mean_absolute_error").unit == ""
    assert add(people, m01, figure="max_relative_error").unit == "%"


@pytest.mark.parametrize(("pair", "fields", "before", "after"), [
    ("halves", {"figure": "relative_error_of_means"}, ("failed", "3.000 %"),
     ("passed", "0.77")),
    ("warm_up", {"first_step": 101}, ("passed", "1.9"), ("passed", "1.000 %")),
    ("near_zero", {"epsilon": 0.5}, ("failed", "64.1"), ("passed", "0.")),
    ("spike", {"figure": "max_relative_error"}, ("passed", "1.0"), ("failed", "36.0"))])
def test_the_effect_on_a_sample_pair(people, m01, pair, fields, before, after):
    new = services.definitions.drafted(m01, fields)
    found = effects([("v1", m01), ("new", new)], Sample(Decimal(2), pair))
    assert [entry.outcome for entry in found] == [before[0], after[0]]
    for entry, (_outcome, figure) in zip(found, (before, after), strict=True):
        assert entry.figure.startswith(figure)


def test_the_effect_on_values(definitions):
    old = definitions["throughput_ratio"]
    new = services.definitions.drafted(old, {"comparison": "gt"})
    found = effects([("v1", old), ("new", new)],
                    Sample(Decimal(98), baseline=100.0, candidate=98.0))
    assert [entry.outcome for entry in found] == ["passed", "failed"]


def entered(definition, **fields):
    """What a browser sends: every field of the form."""
    from assessments.forms import SampleForm, VersionForm

    forms = (VersionForm(instance=definition), SampleForm(definition=definition))
    data = {name: form.get_initial_for_field(field, name)
            for form in forms for name, field in form.fields.items()}
    return {**{k: "" if v is None else v for k, v in data.items()}, **fields}


def test_form_preview_and_storing(client, people, m01):
    client.force_login(people[Role.MANAGER])
    url = reverse("assessments:definition_new", args=[m01.pk])
    assert client.get(url).status_code == 200
    part = client.get(url, entered(m01, figure="relative_error_of_means"), headers=HTMX)
    assert [e.outcome for e in part.context["effects"]] == ["failed", "passed"]
    assert "0.77" in part.content.decode()
    wrong = client.get(url, entered(m01, epsilon="much"), headers=HTMX)
    assert wrong.context["effects"] is None
    refused = client.post(url, entered(m01, change_note="x"))
    assert "Nothing has changed" in str(refused.context["form"].errors)
    assert MetricDefinition.objects.filter(code=m01.code).count() == 1
    client.post(url, entered(m01, figure="relative_error_of_means", change_note="agreed"))
    new = MetricDefinition.objects.get(code=m01.code, version=2)
    text = client.get(reverse("assessments:definition", args=[new.pk])).content.decode()
    assert "relative_error_of_means" in text
    assert "agreed" in text


@pytest.mark.parametrize("code", ["latency", "scaling_efficiency", "score_degradation"])
def test_forms_of_values(client, people, definitions, code):
    client.force_login(people[Role.MANAGER])
    row = definitions[code]
    url = reverse("assessments:definition_new", args=[row.pk])
    part = client.get(url, entered(row, comparison="lt"), headers=HTMX)
    assert [entry.version for entry in part.context["effects"]] == ["v1", "new version"]
    client.post(url, entered(row, source="agreed with the customer", change_note="x"))
    assert [c.before for c in changes(row, MetricDefinition.objects.get(code=code, version=2))] == [
        row.source]


def test_the_list_shows_the_newest(client, people, m01):
    new = add(people, m01, first_step=21)
    client.force_login(people[Role.CONSULTANT])
    answer = client.get(reverse("assessments:definitions"))
    assert (new, [m01]) in answer.context["definitions"]


def test_versions_by_api(people, m01):
    api = APIClient()
    api.force_authenticate(people[Role.MANAGER])
    made = api.post(f"/api/v1/definitions/{m01.pk}/versions/",
                    {"first_step": 21, "change_note": "agreed"})
    assert (made.status_code, made.json()["version"], made.json()["first_step"]) == (201, 2, 21)
    api.force_authenticate(people[Role.SALES])
    assert api.post(f"/api/v1/definitions/{m01.pk}/versions/",
                    {"first_step": 22, "change_note": "x"}).status_code == 403

"""A page and the API that write by the same service accept the same: bounds, choices, required."""

import inspect
from collections.abc import Iterator
from importlib import import_module
from types import CodeType, FunctionType, ModuleType

from django import forms
from django.contrib.auth.models import AnonymousUser
from django.core.validators import MaxLengthValidator, MaxValueValidator, MinValueValidator
from django.test import RequestFactory
from django.urls import URLPattern, get_resolver
from rest_framework import serializers

from delivery.api import APPS
from engagements.web.percent_field import PercentField
from engagements.web.row_form import BOUNDS, RowForm

COLUMN = 2**15 - 1  # a limit from here on is that of the database's column
OR_UPLOADED = "the page chooses a stored file or takes a new one"
VALIDATORS = {"min_value": MinValueValidator, "max_value": MaxValueValidator,
              "max_length": MaxLengthValidator}
OTHER_FORM = "another form of the same page"
# (form, serializer, input): why they differ.
DIFFERENT = {
    ("BaselineForm", "BaselineSerializer", "origin"):
        "older rows are shown without one; the service takes none without",
    ("FileForm", "BaselineRunSerializer", "artifact"): OR_UPLOADED,
    ("FileForm", "MeasureSerializer", "artifact"): OR_UPLOADED,
    ("FileForm", "UploadSerializer", "upload"): OR_UPLOADED,
    ("HumanEvaluationForm", "HumanEvaluationSerializer", "baseline_file"): OR_UPLOADED,
    ("HumanEvaluationForm", "HumanEvaluationSerializer", "candidate_file"): OR_UPLOADED,
    ("RoundForm", "OptimisationRoundSerializer", "artifact"): OR_UPLOADED,
    ("RoundForm", "OptimisationRoundSerializer", "area"):
        "the first round has none of the page's choices; the service gives and refuses the other",
    ("EngagementForm", "EngagementSerializer", "customer"):
        "the page takes a new customer by its name instead",
    ("QuotaForm", "NodeReservationSerializer", "cards"): OTHER_FORM,
    ("QuotaForm", "NodeReservationSerializer", "engagement"): OTHER_FORM,
    ("ModelDecisionForm", "DecisionSerializer", "decision"): "of a model, not of the whole",
    ("TrialIssueForm", "WarrantyClaimSerializer", "description"): OTHER_FORM,
    ("SignForm", "SignSerializer", "strokes"): "JSON in the API, its text on the page",
    ("VersionForm", "PublishSerializer", "note"):
        "the first questionnaire comes by the API, and nothing in it is new",
}


def test_page_and_api_of_one_service_accept_the_same():
    takers, found, pairs = _serializers_of_services(), {}, 0
    for view in _views(get_resolver().url_patterns):
        services, form_classes, _serializers = _reached(view)
        for serializer in {taker for service in services for taker in takers.get(service, ())}:
            for form in form_classes:
                inputs, fields = _inputs(serializer), _fields(form)
                same = inputs.keys() & fields.keys()
                if len(same) * 2 < max(min(len(inputs), len(fields)), 1):
                    continue  # the view writes more than this, by another service
                pairs += 1
                found |= {(form.__name__, serializer.__name__, name): message for name in same
                          if (message := _difference(fields[name], inputs[name]))}
    assert {key: message for key, message in found.items() if key not in DIFFERENT} == {}
    assert set(DIFFERENT) - set(found) == set()
    assert pairs > 80


def _difference(field: forms.Field | None, entered: serializers.Field) -> list[str]:
    """What of an input the page takes otherwise than the API; None is a field that is derived."""
    if field is None or isinstance(field, PercentField):
        return []
    wrong, chosen = [], getattr(entered, "child", entered)
    if isinstance(chosen, serializers.ChoiceField) and _values(field.choices) != _values(
            chosen.choices.items()):
        wrong.append("choices")
    elif isinstance(field, (forms.CharField, forms.IntegerField)):
        wrong = [f"{name}: {page} on the page, {api} in the API" for name in BOUNDS
                 if (page := _bound(field, name)) != (api := _bound(entered, name))
                 and not (name == "max_value" and page is None and api >= COLUMN)]
    if (entered.required and not entered.allow_null and not field.required
            and not isinstance(field, forms.BooleanField)):
        wrong.append("required in the API only")
    if field.required and (entered.allow_null or getattr(entered, "allow_blank", False)):
        wrong.append("required on the page only")
    return wrong


def _bound(field: forms.Field | serializers.Field, name: str) -> int | None:
    """What the field itself says, else one of its validators."""
    of_validators = [one.limit_value for one in field.validators
                     if type(one) is VALIDATORS.get(name)]
    return next((found for found in (getattr(field, name, None), *of_validators)
                 if found is not None), None)


def _values(choices) -> set[str]:
    return {str(value) for value, _label in choices} - {""}


def _inputs(serializer: type[serializers.Serializer]) -> dict[str, serializers.Field]:
    request = RequestFactory().get("/")
    request.user = AnonymousUser()
    return {name: field for name, field in serializer(context={"request": request}).fields.items()
            if not field.read_only}


def _fields(form: type[forms.BaseForm]) -> dict[str, forms.Field | None]:
    derived = form.derived_fields() if issubclass(form, RowForm) else {}
    return {**derived, **form.base_fields}


def _views(patterns) -> Iterator[FunctionType]:
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            yield pattern.callback
        else:
            yield from _views(pattern.url_patterns)


def _serializers_of_services() -> dict[FunctionType, set[type]]:
    found: dict[FunctionType, set[type]] = {}
    for app in APPS:
        for _prefix, viewset, _name in import_module(f"{app}.api").routes:
            own = {getattr(viewset, "serializer_class", None)} - {None}
            for name in ("create", "update", "perform_create", "perform_update",
                         *(action.__name__ for action in viewset.get_extra_actions())):
                services, _forms, takers = _reached(getattr(viewset, name, None))
                for service in services:
                    found.setdefault(service, set()).update(
                        takers | own if name.startswith("perform_") else takers)
    return found


def _reached(start) -> tuple[set, set, set]:
    """Services, forms and serializers that a view names, by itself or by helpers of its module."""
    seen, todo, services, form_classes, taken = set(), [start], set(), set(), set()
    while todo:
        value = inspect.unwrap(found) if isinstance(found := todo.pop(), FunctionType) else found
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, type) and issubclass(value, forms.BaseFormSet):
            form_classes.add(value.form)
        elif isinstance(value, type) and issubclass(value, forms.BaseForm):
            form_classes.add(value)
        elif isinstance(value, type) and issubclass(value, serializers.Serializer):
            taken.add(value)
        elif isinstance(value, FunctionType) and _is_service(value):
            services.add(value)
        elif isinstance(value, FunctionType):
            todo += [*_named(value.__code__, value.__globals__, value.__module__),
                     *(cell.cell_contents for cell in value.__closure__ or ()),
                     *getattr(value, "view_initkwargs", {}).values()]
            if action := getattr(value, "row_action", None):
                todo += [action.service, action.takes]
    return services, form_classes, taken


def _named(code: CodeType, names: dict, module: str) -> Iterator:
    """What the code refers to: classes, services, functions of its own module."""
    known = [names[name] for name in code.co_names if name in names]
    for value in [*known, *(getattr(found, name, None) for found in known
                            if isinstance(found, ModuleType) for name in code.co_names)]:
        if isinstance(value, type) or (isinstance(value, FunctionType) and (
                value.__module__ == module or _is_service(inspect.unwrap(value)))):
            yield value
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _named(inner, names, module)


def _is_service(function: FunctionType) -> bool:
    actor = inspect.signature(function).parameters.get("actor")
    return actor is not None and actor.kind is actor.KEYWORD_ONLY

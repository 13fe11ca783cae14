"""Pages of the catalogue of job kinds."""

from django.shortcuts import render
from django.views.decorators.http import require_GET

from engagements.access import Can, require
from workers.jobs import kind_catalogue as facts


@require_GET
def catalogue(request):
    require(request.user, Can.VIEW_INTERNAL)
    return render(request, "workers/catalogue.html", {"families": facts.families()})


@require_GET
def kind(request, code):
    require(request.user, Can.VIEW_INTERNAL)
    found = facts.known_kind(code)
    return render(request, "workers/kind.html", {
        "kind": found, "stages": facts.stages(found), "command": facts.example_command(found),
        "environment": found.example_environment(),
        "parameters": [
            (p, facts.type_name(p), facts.bounds(p), facts.default(p)) for p in found.parameters]})

"""Choosing inputs of jobs, looking into folders of nodes, folders as archives."""

from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET

from engagements.access import Can, require
from engagements.errors import InvalidInput, WrongState
from toolreaders.number_parsing import whole_number
from workers.jobs import folder_archives, input_choices
from workers.jobs.archive_answers import archive_answer
from workers.models import Job, Node
from workers.views.page_context import place_asked


@require_GET
def choose_files(request):
    """Stored files and folders of nodes; to htmx the part that the drawer shows. It opens on the
    node that the form has chosen, where its folders may be browsed."""
    engagement, _model, _stage = place_asked(request)
    require(request.user, Can.WORK if engagement else Can.OPERATE, engagement)
    field, text = request.GET.get("field", ""), request.GET.get("q", "").strip()[:100]
    nodes = Node.objects.visible_to(request.user).filter(state=Node.State.READY)
    asked = whole_number(request.GET.get("on"))
    if asked is None and "on" not in request.GET:
        asked = next((each.pk for each in nodes.filter(
            pk=whole_number(request.GET.get("node"))) if each.roots), None)
    node = get_object_or_404(nodes, pk=asked) if asked is not None else None
    base = {"field": field, **({"engagement": engagement.code} if engagement else {})}
    context = {"field": field, "engagement": engagement, "text": text, "node": node,
               "nodes": [each for each in nodes if each.roots], "base": urlencode(base)}
    if node:
        context |= _folder(request, node, engagement)
        context["base"] = urlencode({**base, "on": node.pk})
    else:
        found = input_choices.stored_files(request.user, engagement, text)
        page = Paginator(found, 30).get_page(request.GET.get("page"))
        context |= {"page": page, "folders": input_choices.folders_of(list(page))}
    template = "workers/choose_files.html" if request.htmx else "workers/choose_page.html"
    return render(request, template, context)


@require_GET
def node_files(request, pk):
    """The folders of a node that may be browsed, read-only."""
    node = get_object_or_404(Node.objects.visible_to(request.user), pk=pk)
    engagement, _model, _stage = place_asked(request)
    base = {"engagement": engagement.code} if engagement else {}
    return render(request, "workers/node_files.html", {
        "node": node, "base": urlencode(base), **_folder(request, node, engagement)})


def _folder(request: HttpRequest, node: Node, engagement) -> dict:
    """What the page shows of the folder that is asked for; without one the allowed ones."""
    path = request.GET.get("path", "")
    if not path:
        return {}
    try:
        folder = input_choices.browse(request.user, node, engagement, path)
    except (InvalidInput, WrongState) as error:
        return {"problem": error.message}
    is_root = folder.path in node.roots
    return {"folder": folder, "rows": input_choices.rows_of(node, folder),
            "parent": "" if is_root else folder.path.rpartition("/")[0]}


@require_GET
def node_archive(request, pk):
    """A folder or file of a node as a tar archive, or as zip, passed on as the node sends it."""
    node = get_object_or_404(Node.objects.visible_to(request.user), pk=pk)
    engagement, _model, _stage = place_asked(request)
    if not (path := request.GET.get("path", "")):
        raise Http404
    try:
        pieces = folder_archives.of_node(request.user, node, engagement, path)
    except (InvalidInput, WrongState) as error:
        messages.error(request, error.message)
        return redirect("workers:node_files", pk)
    return archive_answer(pieces, path.rstrip("/").rpartition("/")[2] or node.name, node,
                          wanted=request.GET.get("as", ""))


@require_GET
def job_archive(request, pk):
    """Stored files of a job, all or those of a folder, as a tar archive of known length, or zip."""
    job = get_object_or_404(Job.objects.visible_to(request.user), pk=pk)
    pieces, size = folder_archives.of_job(job, request.GET.get("path", "").strip("/"))
    if not size:
        raise Http404
    return archive_answer(pieces, f"job-{job.pk}", job, size, request.GET.get("as", ""))

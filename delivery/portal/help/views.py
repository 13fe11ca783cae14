"""Pages of the user guide."""

from django.http import FileResponse, Http404
from django.shortcuts import render
from django.utils.translation import get_language
from django.views.decorators.http import require_GET

from delivery.portal.help.chapters import chapter, chapters, picture_path


@require_GET
def guide(request):
    """The list of chapters."""
    return render(request, "delivery/portal/help.html", {"chapters": chapters(get_language())})


@require_GET
def guide_chapter(request, slug):
    """One chapter, with the list beside it."""
    language = get_language()
    return render(request, "delivery/portal/help.html", {
        "chapter": chapter(slug, language), "chapters": chapters(language)})


@require_GET
def guide_picture(request, folder, name):
    """A picture of a chapter; there may be none yet."""
    path = picture_path(folder, name)
    if not path.exists():
        raise Http404
    return FileResponse(path.open("rb"), content_type="image/png")

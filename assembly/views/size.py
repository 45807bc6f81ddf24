"""How large a text is that somebody is writing just now."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from assembly.templatetags.budgets import size_of
from config.http.errors import NotFound
from teams.files import MAX_FILE_CHARACTERS


@require_POST
def size(request: HttpRequest, key: str) -> HttpResponse:
    """The size panel of the editor for the text in the form; nothing is stored."""
    text = request.POST.get("content", "")[: MAX_FILE_CHARACTERS + 1].replace("\r\n", "\n")
    try:
        return render(request, "assembly/_size.html", size_of(text, key))
    except StopIteration:
        raise NotFound from None

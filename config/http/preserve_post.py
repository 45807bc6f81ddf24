"""A text that a person sent after signing out, or from an outdated page, is given back to them, never lost.

Django's own responses drop what was sent. Here, the page has a form with the text that can be sent again.
"""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render

OMITTED_FIELDS = {"content", "csrfmiddlewaretoken"}


def resend_form(request: HttpRequest, *, signed_out: bool, status: int) -> HttpResponse | None:
    """Return a page with the text in a form that sends it again; None if no text was sent, or by another site."""
    if request.method != "POST" or "content" not in request.POST or not _is_same_origin(request):
        return None
    fields = [
        (name, value) for name in request.POST for value in request.POST.getlist(name) if name not in OMITTED_FIELDS
    ]
    facts = {"signed_out": signed_out, "fields": fields, "content": request.POST["content"]}
    return render(request, "preserved_post.html", facts, status=status)


def _is_same_origin(request: HttpRequest) -> bool:
    """Return whether the form was sent from our own site: another site must not put text into our form."""
    origin = request.headers.get("Origin")
    return origin is None or origin == f"{request.scheme}://{request.get_host()}"


class SignInMiddleware(LoginRequiredMiddleware):
    """This middleware redirects people who are not signed in to the sign-in page; scripts get an error, texts are given
    back.
    """

    def process_view(
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase], view_args: Any, view_kwargs: Any
    ) -> HttpResponseBase | None:
        refused = super().process_view(request, view_func, view_args, view_kwargs)
        if refused is None:
            return None
        if "application/json" in request.headers.get("Accept", ""):
            return JsonResponse({"code": "signed_out"}, status=401)
        return resend_form(request, signed_out=True, status=401) or refused

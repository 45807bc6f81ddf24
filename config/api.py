"""Every address under /api/v1/: each app's own, the OpenAPI document and its page."""

from typing import NoReturn

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest
from django.urls import include, path, re_path
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from config.http.errors import NotFound


@csrf_exempt
@login_not_required
def no_such_address(request: HttpRequest) -> NoReturn:  # noqa: ARG001 - Django's signature
    """Everything else under /api/v1/: not found, without a page being made for it."""
    raise NotFound("This address")


urlpatterns = [
    path("", include("teams.api.urls")),
    path("", include("agents.api.urls")),
    path("", include("memories.api.urls")),
    path("", include("assembly.api.urls")),
    path("schema", SpectacularAPIView.as_view(), name="schema"),
    path("docs", SpectacularSwaggerSplitView.as_view(template_name="api/docs.html"), name="api_docs"),
    re_path("", no_such_address),
]

"""URLs under /api/v1/: those of each app, the OpenAPI document and its page."""

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

urlpatterns = [
    path("", include("assembly.api_urls")),  # asked for most, and addresses are tried in this order
    path("", include("privacy.api_urls")),
    path("", include("memories.api.urls")),
    path("", include("agents.api.urls")),
    path("", include("teams.api.urls")),
    path("schema", SpectacularAPIView.as_view(), name="schema"),
    path("docs", SpectacularSwaggerSplitView.as_view(template_name="api/docs.html"), name="api_docs"),
]

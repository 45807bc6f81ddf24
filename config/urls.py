"""All URLs of Dossier: pages, and the API under /api/v1/."""

from django.urls import include, path

from config.observability.metrics import metrics

handler400 = "config.http.problems.bad_request"
handler404 = "config.http.problems.page_not_found"

urlpatterns = [
    path("api/v1/", include("config.api")),
    path("metrics", metrics, name="metrics"),
    path("accounts/", include("config.accounts")),
    # The literal addresses of the apps come before the pages that take any slug.
    path("", include("teams.urls")),
    path("", include("agents.urls")),
    path("", include("memories.urls")),
    path("", include("assembly.urls")),
    path("", include("privacy.urls")),
    path("", include("assembly.home.urls")),
]

"""The pages of contexts."""

from django.urls import path

from assembly.views import context, contexts, preview, size

urlpatterns = [
    path("preview/", preview.preview, name="preview"),
    path("contexts/", contexts.contexts, name="context_list"),
    path("contexts/<uuid:id_>/", context.context, name="context"),
    path("contexts/<uuid:id_>/replay/", context.replay, name="context_replay"),
    path("contexts/<uuid:id_>/text/", context.download, name="context_download"),
    path("size/<slug:key>/", size.size, name="size"),
]

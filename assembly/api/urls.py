"""The addresses of assemblies under /api/v1/."""

from django.urls import path

from assembly.api import views

urlpatterns = [
    path("assemblies", views.AssemblyList.as_view()),
    path("assemblies/<uuid:id_>", views.AssemblyDetail.as_view()),
    path("assemblies/<uuid:id_>/decisions", views.AssemblyDecisions.as_view()),
    path("assemblies/<uuid:id_>/replay", views.AssemblyReplay.as_view()),
]

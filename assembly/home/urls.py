"""The pages that show several apps together."""

from django.urls import path

from assembly.home.draft_list import draft_delete, draft_list, draft_page
from assembly.home.pages import agent_page, home, memory_page, team_page

urlpatterns = [
    path("", home, name="home"),
    path("drafts/", draft_list, name="draft_list"),
    path("drafts/<uuid:id_>/", draft_page, name="draft_page"),
    path("drafts/<uuid:id_>/forget/", draft_delete, name="draft_forget"),
    path("agents/<slug:slug>/", agent_page, name="agent_page"),
    path("teams/<slug:slug>/", team_page, name="team_page"),
    path("memories/<uuid:id_>/", memory_page, name="memory"),
]

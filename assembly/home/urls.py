"""URLs of the pages that show data of several apps."""

from django.urls import path

from assembly.home.draft_list import draft_delete, draft_list, draft_page
from assembly.home.pages import agent_page, first_steps_hide, home, memory_page, team_page
from assembly.home.search_views import global_search

urlpatterns = [
    path("", home, name="home"),
    path("first-steps/hide/", first_steps_hide, name="first_steps_hide"),
    path("search/", global_search, name="global_search"),
    path("drafts/", draft_list, name="draft_list"),
    path("drafts/<uuid:id_>/", draft_page, name="draft_page"),
    path("drafts/<uuid:id_>/forget/", draft_delete, name="draft_forget"),
    path("agents/<slug:slug>/", agent_page, name="agent_page"),
    path("teams/<slug:slug>/", team_page, name="team_page"),
    path("memories/<uuid:id_>/", memory_page, name="memory"),
]

"""The pages that show several apps together."""

from django.urls import path

from config.pages.agent import agent_page
from config.pages.draft_pages import draft_forget, draft_list, draft_page
from config.pages.home import home
from config.pages.memory import memory_page
from config.pages.team import team_page

urlpatterns = [
    path("", home, name="home"),
    path("drafts/", draft_list, name="draft_list"),
    path("drafts/<uuid:id_>/", draft_page, name="draft_page"),
    path("drafts/<uuid:id_>/forget/", draft_forget, name="draft_forget"),
    path("agents/<slug:slug>/", agent_page, name="agent_page"),
    path("teams/<slug:slug>/", team_page, name="team_page"),
    path("memories/<uuid:id_>/", memory_page, name="memory"),
]

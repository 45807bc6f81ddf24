"""The pages of memories."""

from django.urls import path

from memories.views import memories

urlpatterns = [
    path("agents/<slug:slug>/memories/", memories.agent_memories, name="agent_memories"),
    path("teams/<slug:slug>/memories/", memories.team_memories, name="team_memories"),
]

"""These REST views list background jobs, show one with its progress, and retry a job that was given up."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from config.http.errors import Invalid
from config.http.idempotency import idempotent
from config.http.openapi import PAGE
from memories.jobs.services import job_for, job_retry, jobs_visible_to
from memories.models import Job, JobStatus
from teams.api.serializers import page_serializer
from teams.api.view import ApiView
from teams.principal import Action


class JobSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    kind = serializers.CharField()
    agent = serializers.CharField(source="agent.slug", allow_null=True, help_text="Null: of the organisation.")
    status = serializers.ChoiceField(choices=JobStatus.choices, help_text="parked: given up after too many attempts.")
    steps = serializers.IntegerField()
    steps_done = serializers.IntegerField()
    attempts = serializers.IntegerField()
    error = serializers.CharField(help_text="Why the last attempt failed; empty when it did not.")
    created_at = serializers.DateTimeField(source="created")
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


def job_document(job: Job) -> dict[str, Any]:
    """Return the JSON document of a job."""
    return dict(JobSerializer(job).data)


class JobList(ApiView):
    @extend_schema(
        operation_id="jobs_list",
        summary="List jobs",
        parameters=[
            OpenApiParameter("agent", str, description="Jobs of this agent, by its slug."),
            OpenApiParameter("status", str, enum=JobStatus.values, description="Jobs with this status."),
            *PAGE,
        ],
        responses=page_serializer(JobSerializer),
    )
    def get(self, request: Request) -> Response:
        """Return the jobs of the agents that you may see, newest first. Organisation admins also see other jobs."""
        query = self.query("agent", "status", "cursor", "limit")
        jobs = jobs_visible_to(self.principal)
        if "agent" in query:
            jobs = jobs.filter(agent__slug=query["agent"])
        if "status" in query:
            if query["status"] not in JobStatus.values:
                raise Invalid("status", f"Use one of: {', '.join(JobStatus.values)}.")
            jobs = jobs.filter(status=query["status"])
        return self.page(jobs, job_document, query=query)


class JobDetail(ApiView):
    @extend_schema(operation_id="jobs_read", summary="Get job", responses=JobSerializer)
    def get(self, request: Request, id_: UUID) -> Response:
        """Return a job with its progress."""
        self.query()
        return Response(job_document(job_for(self.principal, id_)))


class JobRetry(ApiView):
    @extend_schema(operation_id="jobs_retry", summary="Retry failed job", request=None, responses={200: JobSerializer})
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Restart a failed job; 409 for any other job."""
        self.query()
        return Response(job_document(job_retry(job=job_for(self.principal, id_, Action.WRITE))))

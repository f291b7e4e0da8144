"""Admin pages of the records that a site administrator may need to inspect or fix."""

from typing import Any

from django.contrib import admin

from evaluations.models import (
    AuditEntry,
    Criterion,
    Endpoint,
    EvaluationRun,
    Judge,
    Membership,
    Project,
    WorkerHeartbeat,
)

for model in (Criterion, EvaluationRun, Judge, Membership, Project, WorkerHeartbeat):
    admin.site.register(model)


@admin.register(Endpoint)
class EndpointAdmin(admin.ModelAdmin):
    """For inspecting and renaming; addresses and keys change on the project's pages."""

    readonly_fields = ("project", "base_url", "api_version", "key_env")

    def has_add_permission(self, *_arguments: Any) -> bool:
        return False


@admin.register(AuditEntry)
class AuditAdmin(admin.ModelAdmin):
    """The log of the whole site, including lockouts, read only."""

    list_display = ("created_at", "project", "user_name", "action", "detail", "refused", "address")
    list_filter = ("refused", "by_api")
    search_fields = ("user_name", "address")

    def has_add_permission(self, *_arguments: Any) -> bool:
        return False

    def has_change_permission(self, *_arguments: Any) -> bool:
        return False

    def has_delete_permission(self, *_arguments: Any) -> bool:
        return False

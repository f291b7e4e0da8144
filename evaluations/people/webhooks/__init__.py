"""Webhooks: finished runs and campaigns are recorded, signed, delivered by a worker and retried."""

"""The broker between the API, which announces that there is work, and the workers, which choose it in the database.

A message names no document; it wakes a worker with a free slot. So a lost message costs a moment, a duplicate (also
one redelivered after the visibility timeout) finds nothing to do, and the next document is chosen only when a slot is
free.
"""

from __future__ import annotations

from typing import Any

from celery import Celery
from celery.app.events import Events
from celery.events.dispatcher import EventDispatcher

from contracts.ingestion import Lane

QUEUES = {Lane.interactive: "ingestion.interactive", Lane.bulk: "ingestion.bulk"}
SYNC_QUEUE = "ingestion.sync"
PROCESS_TASK = "ingestion.process_documents"
SYNC_TASK = "ingestion.synchronise"


class UnrepeatedDispatcher(EventDispatcher):  # type: ignore[misc]  # Celery has no types
    """Sends each heartbeat once. Celery would repeat it until the broker is back, in the thread that has to notice that
    the worker was asked to end.
    """

    def send(self, *args: Any, retry: bool = False, **fields: Any) -> Any:  # noqa: ARG002  Celery's argument
        return super().send(*args, retry=False, **fields)


class WorkerEvents(Events):  # type: ignore[misc]  # Celery has no types
    """Celery's events by `UnrepeatedDispatcher`."""

    dispatcher_cls = UnrepeatedDispatcher


def build_celery(redis_url: str) -> Celery:
    """Builds the Celery application for both sides; results are not kept."""
    app = Celery("ingestion", broker=redis_url, set_as_current=False, events=WorkerEvents)
    app.conf.update(
        task_default_queue=QUEUES[Lane.interactive],
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        # Late, so that running tasks count against the worker's prefetch limit.
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_send_task_events=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            "visibility_timeout": 3600,
            "socket_timeout": 10,
            "socket_connect_timeout": 5,
            "socket_keepalive": True,
        },
    )
    return app

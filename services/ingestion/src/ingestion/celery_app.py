"""The task queue between the API, which dispatches, and the workers."""

from __future__ import annotations

from celery import Celery

QUEUE = "ingestion"
TASK = "ingestion.process_document"


def build_celery(redis_url: str) -> Celery:
    """The application of both sides: tasks carry ids and a traceparent as JSON, and no result is kept."""
    app = Celery("ingestion", broker=redis_url, set_as_current=False)
    app.conf.update(
        task_default_queue=QUEUE,
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_send_task_events=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # What a conversion that lasts longer is delivered again for finds the stage leased, and does nothing.
        broker_transport_options={
            "visibility_timeout": 3600,
            "socket_timeout": 10,
            "socket_connect_timeout": 5,
            "socket_keepalive": True,
        },
    )
    return app

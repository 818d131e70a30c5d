"""attractor feedback"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.commands.written_files import OutputFile, format_of, write_parts
from attractor_client.invocation import Limit, connected, show_list
from attractor_client.output import Output
from attractor_client.rendering import local_time
from contracts.orchestrator import FeedbackFormat, FeedbackRating

app = typer.Typer(no_args_is_help=True, help="Rate answers; owners can list and export the feedback.")
MessageId = Annotated[UUID, typer.Argument(metavar="MESSAGE", help="The answer's id, see `attractor sessions show`.")]
Rating = Annotated[FeedbackRating | None, typer.Option(help="Only entries with this rating.")]
FORMATS = {".jsonl": FeedbackFormat.jsonl, ".csv": FeedbackFormat.csv}


@app.command()
@connected()
async def give(
    client: AttractorClient,
    output: Output,
    message_id: MessageId,
    rating: Annotated[FeedbackRating, typer.Argument(help="Whether it was good.")],
    reason: Annotated[
        list[str] | None, typer.Option(help="What was good or bad, in a word or two; repeatable.")
    ] = None,
    comment: Annotated[str | None, typer.Option(help="Anything else.")] = None,
    share_content: Annotated[
        bool, typer.Option("--share-content", help="Let the workspace's owners read the question and the answer.")
    ] = False,
) -> None:
    """Rate an answer. Owners see the rating with your user id, but not the texts.

    \b
    Examples:
      attractor feedback give 2f0c... up
      attractor feedback give 2f0c... down --reason outdated --share-content
    """
    stored = await client.feedback.give(
        message_id, rating, reasons=reason or (), comment=comment, share_content=share_content
    )
    output.result(stored, f"{message_id} {stored.rating}")


@app.command()
@connected()
async def withdraw(client: AttractorClient, output: Output, message_id: MessageId) -> None:
    """Withdraw your rating of an answer."""
    await client.feedback.withdraw(message_id)
    output.result({"withdrawn": message_id}, f"{message_id} no longer rated")


@app.command("list")
@connected()
async def list_feedback(client: AttractorClient, output: Output, rating: Rating = None, limit: Limit = 50) -> None:
    """List the workspace's feedback on answers, newest first. Requires an owner's key."""
    await show_list(
        output,
        client.feedback.all(rating),
        limit,
        ("at", "user", "rating", "reasons", "comment", "question"),
        lambda one: (
            local_time(one.created_at),
            one.user_id,
            one.rating,
            ", ".join(one.reasons),
            one.comment or "",
            "(not shared)" if one.question is None else one.question,
        ),
    )


@app.command()
@connected()
async def export(
    client: AttractorClient,
    output: Output,
    file: OutputFile,
    format: Annotated[FeedbackFormat | None, typer.Option(help="Default: from the file's extension.")] = None,
    rating: Rating = None,
) -> None:
    """Write all feedback to a file: JSON Lines, or CSV. Requires an owner's key.

    \b
    Examples:
      attractor feedback export feedback.csv --rating down
      attractor feedback export --format jsonl - | jq .comment
    """
    kind = format_of(file, format, FORMATS)
    async with client.feedback.export(kind, rating) as parts:
        await write_parts(output, file, parts)

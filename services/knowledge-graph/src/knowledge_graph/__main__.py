"""python -m knowledge_graph serve | migrate | replay | extract | rebuild | verify"""

import sys
from argparse import ArgumentParser, Namespace
from uuid import UUID

from service_kit.command import WithArguments, apply_migrations, replay_dead_letters, run


def start() -> None:
    # Imported here because the extraction process imports this module too, and neither it nor migrations need it.
    from knowledge_graph.app import create_app
    from knowledge_graph.settings import Settings
    from service_kit.serve import serve

    settings = Settings()
    serve("knowledge-graph", settings, lambda: create_app(settings))


def replay() -> None:
    from contracts.events import DOCUMENTS

    replay_dead_letters([DOCUMENTS], "knowledge-graph")


def extract(chosen: Namespace) -> None:
    from knowledge_graph.extract_again import extract_command

    extract_command(chosen.workspace)


def rebuild(chosen: Namespace) -> None:
    from knowledge_graph.neo4j.maintenance import rebuild_command

    rebuild_command(chosen.workspace)


def workspace_option(parser: ArgumentParser) -> None:
    parser.add_argument("--workspace", type=UUID, metavar="ID", help="only this workspace; all by default")


def verify(chosen: Namespace) -> None:
    from knowledge_graph.neo4j.maintenance import verify_command

    verify_command(repair=chosen.repair)


def repair_option(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--repair", action="store_true", help="correct the sums and rebuild the projection where they differ"
    )


if __name__ == "__main__":
    sys.exit(
        run(
            "knowledge_graph",
            {
                "serve": ("run the service", start),
                "migrate": ("apply new migrations", lambda: apply_migrations("knowledge_graph", "knowledge_graph")),
                "replay": ("replay dead letters", replay),
                "extract": WithArguments(
                    "extract documents of earlier versions again, by the rules of this one", extract, workspace_option
                ),
                "rebuild": WithArguments("rebuild the Neo4j projection", rebuild, workspace_option),
                "verify": WithArguments(
                    "compare sums and the Neo4j projection with the provenance", verify, repair_option
                ),
            },
        )
    )

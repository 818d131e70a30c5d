"""Writes results to ResultStore."""

import sqlalchemy


class ResultWriter:
    """One row for each result."""

    def expect(self, number: str, patient: dict) -> None:
        self.engine = sqlalchemy.create_engine("postgresql://result-store:5432/results")

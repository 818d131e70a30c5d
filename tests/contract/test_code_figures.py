"""Limits on the code's complexity: floors, circles, names, docstrings, READMEs."""

from __future__ import annotations

import pytest
from api_calls import REPOSITORY
from code_figures import Building, Code

MOST_FLOORS = 7
LONGEST_README = 100
COLUMN_FILES = 6
MOST_DANGLING = 0.02
MOST_SHARED_NAMES = 40


@pytest.fixture(scope="module")
def code() -> Code:
    return Code(REPOSITORY)


def test_no_two_packages_import_each_other(code: Code) -> None:
    assert {one.name: one.circles for one in code.buildings if one.circles} == {}


@pytest.mark.parametrize("building", Code(REPOSITORY).buildings, ids=lambda one: one.name)
def test_the_number_of_layers_is_limited(building: Building) -> None:
    assert building.floors <= MOST_FLOORS


def test_few_classes_share_a_name(code: Code) -> None:
    assert sum(code.shared_class_names.values()) < MOST_SHARED_NAMES, code.shared_class_names


def test_docstrings_begin_with_a_verb_or_a_noun(code: Code) -> None:
    assert code.dangling_share < MOST_DANGLING, code.dangling


def test_adding_a_document_column_touches_few_files(code: Code) -> None:
    assert len(code.column_files) <= COLUMN_FILES, code.column_files


def test_readmes_fit_on_one_page(code: Code) -> None:
    assert {name: lines for name, lines in code.readmes.items() if lines > LONGEST_README} == {}

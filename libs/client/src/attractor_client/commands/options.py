"""Options that several commands share, declared once as the parameters of a function that reads them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

import typer
from pydantic import ValidationError

from attractor_client.invocation import first_error


def taking(**groups: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command the parameters of each group's function in place of its own parameter of the group's name.

    The command is called with what the function returned.
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        def call(**given: Any) -> None:
            read = {}
            for group, function in groups.items():
                values = {name: given.pop(name) for name in inspect.signature(function).parameters}
                try:
                    read[group] = function(**values)
                except ValidationError as error:
                    raise typer.BadParameter(first_error(error)) from error
            command(**given, **read)

        parameters = []
        for parameter in _resolved(command):
            parameters += _resolved(groups[parameter.name]) if parameter.name in groups else [parameter]
        call.__name__, call.__doc__ = command.__name__, command.__doc__
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # as inspect documents it
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return call

    return decorated


def _resolved(function: Callable[..., Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    return [one.replace(annotation=hints[one.name], kind=one.KEYWORD_ONLY) for one in parameters]

"""The bodies that the API takes, and the requests they become."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import msgspec

from explorer.errors import InvalidRequest
from explorer.model import Argument, Request, Scalar
from explorer.services import DEFAULT_TARGET, Services
from explorer.views.http import check_source, read_body

_Index = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
_Value = Annotated[str, msgspec.Meta(max_length=10_000)] | int | float | bool | None
_Options = Annotated[dict[_Name, _Value], msgspec.Meta(max_length=100)]
_Arguments = Annotated[list[Argument], msgspec.Meta(max_length=1000)]
_Signature = Annotated[str, msgspec.Meta(max_length=100_000)]


class CompilationBody(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What to compile. `triton` left out is the newest version that is available.

    `launch` is an index into the launches that running the source makes; without one, `arguments` is a
    list of arguments or a signature string such as "*fp16:16, i32, 128".
    """

    source: str
    target: _Name
    triton: _Name | None = None
    kernel: _Name | None = None
    launch: _Index | None = None
    arguments: _Arguments | _Signature | None = None
    config: _Index | None = None
    options: _Options = {}


class InspectionBody(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A source to look into. The target is the GPU that its host code is told it runs on."""

    source: str
    target: _Name = DEFAULT_TARGET
    triton: _Name | None = None


def read_compilation(services: Services) -> Request:
    """The current request's body as a compilation.

    Raises:
        InvalidRequest and what is below it, SourceTooLarge, UnsupportedMediaType.
    """
    limit = services.settings.source_limit_bytes
    body = read_body(CompilationBody, limit)
    check_source(body.source, limit)
    if body.launch is not None and body.arguments is not None:
        raise InvalidRequest("Give a launch or arguments, not both.")
    # msgspec leaves out of an object what was left out of the body; a copy has all fields.
    arguments = tuple(map(replace, body.arguments)) if isinstance(body.arguments, list) else body.arguments
    options: dict[str, Scalar] = dict(body.options)
    return Request(
        source=body.source,
        target=services.target_name(body.target),
        triton=services.triton_version(body.triton),
        kernel=body.kernel,
        launch=body.launch,
        arguments=arguments,
        config=body.config,
        options=options,
    )


def read_inspection(services: Services) -> Request:
    """The current request's body as an inspection.

    Raises:
        InvalidRequest and what is below it, SourceTooLarge, UnsupportedMediaType.
    """
    limit = services.settings.source_limit_bytes
    body = read_body(InspectionBody, limit)
    check_source(body.source, limit)
    return Request(
        source=body.source,
        target=services.target_name(body.target),
        triton=services.triton_version(body.triton),
        task="inspect",
    )

"""The bodies of compilations and inspections, and their requests."""

from __future__ import annotations

import secrets
import shlex
from dataclasses import replace
from typing import Annotated

import msgspec

from explorer.documents.files import LONGEST_PATH, MOST_FILES, check_files
from explorer.errors import Forbidden, InvalidRequest, SourceTooLarge
from explorer.model import Argument, Edits, Request, Scalar
from explorer.model.hardware import DEFAULT_TARGET
from explorer.services import Services
from explorer.views.current_account import current_account
from explorer.views.http import check_source, read_body
from explorer.views.privacy import ACCOUNT_KEY, owner_of

#: The maximum number of assumed values in a request.
MOST_ASSUMED = 100
_KEY_BYTES = 16
#: The maximum number of passes that a request changes.
MOST_EDITED_PASSES = 1000

_Index = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
_Value = Annotated[str, msgspec.Meta(max_length=10_000)] | int | float | bool | None
_Options = Annotated[dict[_Name, _Value], msgspec.Meta(max_length=100)]
_Arguments = Annotated[list[Argument], msgspec.Meta(max_length=1000)]
_Path = Annotated[str, msgspec.Meta(max_length=LONGEST_PATH)]
Files = Annotated[dict[_Path, str], msgspec.Meta(max_length=MOST_FILES)]
_Place = Annotated[str, msgspec.Meta(max_length=LONGEST_PATH + 20, pattern=r"^(.+:)?[1-9]\d{0,8}$")]
_Number = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_Assumed = Annotated[dict[_Place, _Number], msgspec.Meta(max_length=MOST_ASSUMED)]
_ScriptArguments = Annotated[str, msgspec.Meta(max_length=10_000)]
_Signature = Annotated[str, msgspec.Meta(max_length=100_000)]
Private = bool | Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{32,64}|account(:.{1,50}:[0-9a-f]{32})?)?$")]


class EditsBody(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Edits of stages and passes.

    The later stages are made from `text`, which replaces the compiler's text of `stage`. Lines that are equal
    to lines of the original stage keep their locations. `without_passes` are passes that do not run, and
    `pass_options` replace values of their options, by the names of the passes: "canonicalize" means every
    pass of that name, "canonicalize#2" the second one.
    """

    stage: Annotated[str, msgspec.Meta(max_length=100)] = ""
    text: str = ""
    without_passes: Annotated[list[_Name], msgspec.Meta(max_length=MOST_EDITED_PASSES)] = []
    pass_options: Annotated[dict[_Name, _Options], msgspec.Meta(max_length=MOST_EDITED_PASSES)] = {}

    def edits(self) -> Edits | None:
        """Return the edits; None: there are none."""
        if bool(self.stage) != bool(self.text):
            raise InvalidRequest("'edits' needs both 'stage' and its 'text', or neither.")
        made = Edits(self.stage, self.text, tuple(dict.fromkeys(self.without_passes)), self.pass_options)
        return None if made == Edits() else made


class CompilationBody(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The kernel to compile. The default of `triton` is the newest available version.

    `launch` is an index into the launches of the source. Without a launch, `arguments` is a list of arguments
    or a signature string such as "*fp16:16, i32, 128". `constants` are other values for constexpr arguments,
    by name. With `llvm_passes`, the result has the passes of LLVM.
    `files` are the texts of further files that the source imports, by their paths below a common folder, and
    `path` is its own. `assumed` are numbers for values that the script reads from tensors that only a GPU
    could compute, by places: "12" is a line of the script, "tools.py:3" of another file.
    `script_arguments` are the arguments of the script, written as in a shell: "--rows 64 --name 'two words'".
    `edits` change stages and passes. A `private` result has an address that nobody can guess; equal requests
    share a result only if they have the same key, which is random and hexadecimal. With true, the server
    chooses a new key. With "account", the key permits only the account of the request to open the result.
    """

    source: str
    target: _Name
    triton: _Name | None = None
    kernel: _Name | None = None
    launch: _Index | None = None
    arguments: _Arguments | _Signature | None = None
    config: _Index | None = None
    options: _Options = {}
    constants: _Options = {}
    llvm_passes: bool = False
    path: _Path = ""
    files: Files = {}
    assumed: _Assumed = {}
    script_arguments: _ScriptArguments = ""
    edits: EditsBody | None = None
    private: Private = False


class InspectionBody(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A source to inspect. `target` is the GPU that its host code sees."""

    source: str
    target: _Name = DEFAULT_TARGET
    triton: _Name | None = None
    path: _Path = ""
    files: Files = {}
    assumed: _Assumed = {}
    script_arguments: _ScriptArguments = ""


def read_compilation(services: Services) -> Request:
    """Read the body of the current request as a compilation.

    Raises:
        InvalidRequest and its subclasses, SourceTooLarge, UnsupportedMediaType.
    """
    return requested_compilation(services, read_body(CompilationBody, services.settings.source_limit_bytes))


def requested_compilation(services: Services, body: CompilationBody) -> Request:
    """Check the body of a compilation and return its request.

    Raises:
        InvalidRequest and its subclasses, SourceTooLarge.
    """
    limit = services.settings.source_limit_bytes
    check_source(body.source, limit)
    target, triton = services.target_name(body.target), services.triton_version(body.triton)
    made = replace(unlimited_compilation(body, target, triton), private=private_key(body.private))
    check_size(made, limit)
    return made


def unlimited_compilation(body: CompilationBody, target: str, triton: str) -> Request:
    """Return the public request for the body of a compilation, whatever its length.

    Raises:
        InvalidRequest: the fields contradict each other, or a path is invalid.
    """
    check_files(body.path, body.files)
    try:
        shlex.split(body.script_arguments)
    except ValueError as error:
        raise InvalidRequest(
            f"'script_arguments' cannot be split into words: {error}. Write them as in a shell."
        ) from error
    if body.launch is not None and body.arguments is not None:
        raise InvalidRequest("'launch' and 'arguments' exclude each other. Give one of them.")
    # msgspec leaves omitted fields unset; a copy has all fields.
    arguments = tuple(map(replace, body.arguments)) if isinstance(body.arguments, list) else body.arguments
    if body.constants and body.arguments is not None:
        raise InvalidRequest("'constants' and 'arguments' exclude each other: 'arguments' has all values.")
    options: dict[str, Scalar] = dict(body.options)
    return Request(
        source=body.source,
        target=target,
        triton=triton,
        kernel=body.kernel,
        launch=body.launch,
        arguments=arguments,
        config=body.config,
        options=options,
        constants=dict(body.constants),
        task="llvm-passes" if body.llvm_passes else "compile",
        path=body.path,
        files=body.files,
        assumed=body.assumed,
        script_arguments=body.script_arguments.strip(),
        edits=body.edits.edits() if body.edits else None,
    )


def private_key(private: Private) -> str:
    """Return the key of a private result; "": the result is public.

    Raises:
        Forbidden: the key names an account, and the request comes from a different account or from none.
    """
    if isinstance(private, bool):
        return secrets.token_hex(_KEY_BYTES) if private else ""
    if not private.startswith(ACCOUNT_KEY):
        return private
    account = current_account()
    if account is None or owner_of(private) not in ("", account.name):
        raise Forbidden(
            "Only an account itself can make results that it alone can open. Sign in, or choose who "
            "else may see the result."
        )
    return private if owner_of(private) else f"{ACCOUNT_KEY}:{account.name}:{secrets.token_hex(_KEY_BYTES)}"


def read_inspection(services: Services) -> Request:
    """Read the body of the current request as an inspection.

    Raises:
        InvalidRequest and its subclasses, SourceTooLarge, UnsupportedMediaType.
    """
    body = read_body(InspectionBody, services.settings.source_limit_bytes)
    compilation = CompilationBody(**msgspec.structs.asdict(body))
    return inspection_of(requested_compilation(services, compilation))


def inspection_of(compilation: Request) -> Request:
    """Return the request that inspects the source of a compilation."""
    return Request(
        source=compilation.source,
        target=compilation.target,
        triton=compilation.triton,
        task="inspect",
        path=compilation.path,
        files=compilation.files,
        assumed=compilation.assumed,
        script_arguments=compilation.script_arguments,
    )


def check_size(request: Request, limit_bytes: int) -> None:
    """Check the length of a source with its files.

    Raises:
        SourceTooLarge: the source and its files are too long together.
    """
    if request.size_bytes > limit_bytes:
        raise SourceTooLarge(
            f"The source and its files have {request.size_bytes:,} bytes; the limit is {limit_bytes:,}. "
            "Leave out the files that the source does not import."
        )

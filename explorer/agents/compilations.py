"""Compile a kernel, and read a compilation. The other tools need the resulting ID."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from explorer.agents.api import Api, document, post
from explorer.agents.tool import WAIT_SECONDS, Id, page_of
from explorer.documents import CompilationDocument, ResourcesDocument
from explorer.documents.alternatives import Alternative
from explorer.errors import NotFound
from explorer.explanations import explanations, vocabularies
from explorer.model import Diagnostic, Scalar
from explorer.model.hardware import DEFAULT_TARGET
from explorer.store import Status, is_over

_Index = Annotated[int, msgspec.Meta(ge=0)]
_Source = Annotated[
    str, msgspec.Meta(description="Python source of the kernel, or of the whole script that launches it")
]
_Target = Annotated[
    str, msgspec.Meta(description='GPU: "cuda:80", "cuda:90", "cuda:100", "hip:gfx942"; others in the error')
]
_Signature = Annotated[
    str,
    msgspec.Meta(
        description='Types of the arguments if the source has no launch, such as "*fp16:16, i32:16, 128": '
        "a pointer and a size, both divisible by 16, and a constant"
    ),
]


class StageRow(msgspec.Struct, frozen=True):
    """A stage with its number of lines."""

    name: str
    title: str
    lines: int


class LaunchRow(msgspec.Struct, frozen=True):
    """A launch of the source. `line` is its source line."""

    index: int
    kernel: str
    line: int


class Compilation(msgspec.Struct, frozen=True):
    """A compilation. `page` is its permanent link; "" if there is no server that browsers can reach.

    `guesses` are the reasons for guessed arguments, by name. `next` says which tools to call.
    """

    compilation: str
    page: str
    status: Status
    kernel: str | None
    target: str
    triton: str
    signature: str
    guesses: dict[str, str]
    options: dict[str, Scalar]
    stages: list[StageRow]
    passes: int
    changed_passes: int
    resources: ResourcesDocument | None
    diagnostics: list[Diagnostic]
    alternatives: tuple[Alternative, ...]
    kernels: list[str]
    launches: list[LaunchRow]
    next: str


class Explanation(msgspec.Struct, frozen=True):
    """Explanations of a word, by vocabulary."""

    word: str
    explanations: dict[str, str]


async def compile(  # noqa: A001  the name of the tool
    api: Api,
    source: _Source,
    target: _Target = DEFAULT_TARGET,
    triton: Annotated[str | None, msgspec.Meta(description="Triton version; default: the newest")] = None,
    kernel: Annotated[str | None, msgspec.Meta(description="Name of the kernel to compile")] = None,
    launch: Annotated[_Index | None, msgspec.Meta(description="Index of the launch in the source")] = None,
    signature: _Signature | None = None,
    config: Annotated[_Index | None, msgspec.Meta(description="Index of the autotune configuration")] = None,
    options: Annotated[
        dict[str, int | float | bool | str],
        msgspec.Meta(description='Such as {"num_warps": 8}'),
    ] = {},  # noqa: B006  it is not changed
    constants: Annotated[
        dict[str, int | float | bool | str],
        msgspec.Meta(description='Other values of constexpr arguments of the launch, such as {"BLOCK": 512}'),
    ] = {},  # noqa: B006  it is not changed
    script_arguments: Annotated[
        str, msgspec.Meta(description='Arguments of the script, written as in a shell, such as "--rows 64"')
    ] = "",
    private: Annotated[
        bool, msgspec.Meta(description="Store the result at an address that nobody can guess")
    ] = False,
) -> Compilation:
    """Compile a Triton kernel without a GPU. Returns its stages, resources and errors.

    Give a whole script with a launch, or a kernel with a signature. The source runs in a sandbox. Equal
    requests have equal IDs and are compiled once. For a program with torch.compile, this tool compiles a
    kernel that PyTorch's compiler writes: lines are lines of its output code.
    """
    body: dict[str, Any] = {
        "source": source,
        "target": target,
        "triton": triton,
        "kernel": kernel,
        "launch": launch,
        "arguments": signature,
        "config": config,
        "options": options,
        "constants": constants,
        "script_arguments": script_arguments,
        "private": private,
    }
    ticket = await post(api, "/compilations", body)
    index = await _finished(api, ticket["id"])
    if index.status == "kernels_found" and index.output_code is not None:
        ticket = await post(api, "/compilations", body | index.output_code.request_fields())
        index = await _finished(api, ticket["id"])
    return _answer(api, index)


async def read_compilation(api: Api, compilation: Id) -> Compilation:
    """Return a compilation by its ID, as in the link /k/<ID> of its page. Waits until it is finished."""
    return _answer(api, await _finished(api, compilation))


async def explain(
    api: Api,  # noqa: ARG001  all tools have it
    word: Annotated[str, msgspec.Meta(max_length=200, description="Such as ttg.convert_layout or HGMMA")],
) -> Explanation:
    """Explain a compiler pass, an operation of MLIR, or an instruction of PTX, SASS or AMDGCN."""
    found = {name: words[word] for name in vocabularies() if word in (words := explanations(name))}
    if not found:
        raise NotFound(f"There is no explanation of {word!r}. Names are as in the texts of stages.")
    return Explanation(word, found)


async def _finished(api: Api, compilation: str) -> CompilationDocument:
    """Wait for a compilation and return its index."""
    index = await _index(api, compilation)
    if not is_over(index.status):
        await api.follow(f"/api/v1/compilations/{compilation}/events", WAIT_SECONDS)
        index = await _index(api, compilation)
    return index


async def _index(api: Api, compilation: str) -> CompilationDocument:
    return await document(api, f"/compilations/{compilation}", CompilationDocument)


def _answer(api: Api, index: CompilationDocument) -> Compilation:
    specialized = index.specialization
    return Compilation(
        compilation=index.id,
        page=f"{api.url}{index.url}" if api.url else "",
        status=index.status,
        kernel=index.kernel,
        target=index.target.name,
        triton=index.triton,
        signature=specialized.signature if specialized else "",
        guesses=specialized.guesses if specialized else {},
        options=specialized.options if specialized else index.request.options,
        stages=[StageRow(stage.name, stage.title, stage.lines) for stage in index.stages],
        passes=len(index.passes),
        changed_passes=sum(each.changed for each in index.passes),
        resources=index.resources,
        diagnostics=page_of(index.diagnostics),
        alternatives=index.alternatives,
        kernels=page_of(kernel.name for kernel in index.kernels),
        launches=page_of(LaunchRow(each.index, each.kernel, each.line) for each in index.launches),
        next=_next(index),
    )


def _next(index: CompilationDocument) -> str:
    if index.status == "complete":
        return (
            "Call findings, list_passes, read_stage, live_registers, explain_shared_memory, bank_conflicts, "
            "memory_accesses, layouts or run with this compilation."
        )
    if index.status == "kernels_found":
        return "A compiler writes the kernels. Call compile with the source of the program."
    if index.status == "failed":
        return (
            "Read diagnostics. list_passes shows how far the compilation went; call compile with a changed "
            "source, or as alternatives suggest."
        )
    return "The compilation is not finished. Call read_compilation again."


__all__ = ["compile", "explain", "read_compilation"]

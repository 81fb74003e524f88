"""Selects the specialization to compile: by the launch, the arguments or the signature of a request.

In: the contents of a source and a request. Out: a specialization, as the just-in-time compiler would make it.
Without a launch and arguments, the first kernel is compiled with guesses, also if the script ended with an
error before a launch. That error is the only one if the guesses do not compile.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from triton.compiler.compiler import make_backend

from explorer.model import Argument, Launch, Location, Request, Specialized
from explorer.model.hardware import Target
from explorer.pipeline import signature as signatures
from explorer.pipeline.arguments import (
    Constant,
    describe_arguments,
    pointers_within_range,
    shown_options,
    to_scalar,
)
from explorer.pipeline.chosen_arguments import choose_arguments
from explorer.pipeline.errors import UserError, user_error
from explorer.pipeline.fake_gpu import RecordedLaunch
from explorer.pipeline.module import FoundKernel, FoundLaunch, SourceContents
from explorer.pipeline.output_code import torch_locations
from explorer.pipeline.parameters import config_options
from explorer.pipeline.repeated_launches import repeat_launch
from explorer.pipeline.targets import triton_target
from explorer.pipeline.trials import choices_of, fit_guesses

if TYPE_CHECKING:
    from explorer.pipeline.stage_source import StageSource


@dataclass(frozen=True)
class Specialization:
    """A kernel with everything that compiling it needs.

    The fields are the arguments of the kernel's `ASTSource` and of `compile`. `described` is for the user.
    """

    jit_function: Any
    signature: dict[str, Any]
    constexprs: dict[tuple[int, ...], Any]
    attrs: dict[tuple[int, ...], Any]
    options: dict[str, Any]
    described: Specialized
    #: The lines of a PyTorch program that the kernel as a whole comes from.
    origins: tuple[Location, ...] = ()
    #: The stage whose text the source is, if it is not Python. There is no `jit_function` then.
    stage_source: StageSource | None = None


def resolve(found: SourceContents, request: Request, target: Target) -> Specialization:
    """Return the specialization that `request` selects. Raise UserError for an error in it."""
    kernel = choose_kernel(found, request)
    check_options(request, target)
    if request.arguments is None:
        launch = choose_launch(found, request, kernel)
        if launch is not None:
            return _from_launch(launch, request, target)
    elif request.launch is not None:
        raise user_error("A request has either a launch or arguments, not both.")
    return _from_arguments(kernel or found.kernels[0], found, request, target)


# --- selecting --------------------------------------------------------------------------------


def _refuse_broken(found: SourceContents) -> None:
    """Raise the error that occurred while the source was executed, if any."""
    for diagnostic in found.diagnostics:
        if diagnostic.severity == "error":
            raise UserError(diagnostic)


def choose_kernel(found: SourceContents, request: Request) -> FoundKernel | None:
    if not found.kernels:
        _refuse_broken(found)
        if found.output_code is not None:
            raise user_error(
                "The source has no kernel: a compiler writes the kernels of this program.",
                hint="Compile the output code, which an inspection of the source contains.",
            )
        raise user_error(
            "The source has no kernel.",
            hint="A kernel is a function with the decorator @triton.jit or @gluon.jit. For kernels of "
            "PyTorch, call the function that torch.compile returns.",
        )
    if request.kernel is None:
        return None
    names = [kernel.info.name for kernel in found.kernels]
    for kernel in found.kernels:
        if kernel.info.name == request.kernel:
            return kernel
    _refuse_broken(found)
    close = difflib.get_close_matches(request.kernel, names, 1)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    raise user_error(
        f"The source has no kernel {request.kernel!r}.", hint=f"{hint}There are: {', '.join(names)}."
    )


def choose_launch(found: SourceContents, request: Request, kernel: FoundKernel | None) -> FoundLaunch | None:
    launches = found.launches
    if request.launch is not None:
        if not 0 <= request.launch < len(launches):
            _refuse_broken(found)
            count = len(launches)
            launches_made = "1 launch" if count == 1 else f"{count} launches"
            raise user_error(
                f"The source has no launch {request.launch}: it makes {launches_made}.",
                hint="Launches are numbered from 0, in the order in which they are made.",
            )
        launch = launches[request.launch]
        if kernel is not None and launch.kernel is not kernel:
            raise user_error(
                f"Launch {request.launch} is of {launch.kernel.info.name}, not of {kernel.info.name}.",
                launch.info.line,
            )
        return launch
    return next((launch for launch in launches if kernel is None or launch.kernel is kernel), None)


def check_options(request: Request, target: Target) -> None:
    known = sorted(make_backend(triton_target(target)).parse_options({"arch": None}).__dict__)
    for name in request.options:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            raise user_error(
                f"Unknown compiler option {name!r}.", hint=f"{hint}Known options: {', '.join(known)}."
            )


def check_constants(kernel: FoundKernel, request: Request) -> None:
    known = [each.name for each in kernel.info.parameters if each.is_constexpr]
    for name in request.constants:
        if name not in known:
            raise user_error(
                f"{kernel.info.name} has no constexpr argument {name!r}.",
                kernel.info.line,
                f"It has {', '.join(known)}." if known else "It has none.",
            )


def check_config(kernel: FoundKernel, config: int | None) -> None:
    count = len(kernel.info.configs)
    if config is not None and not 0 <= config < count:
        raise user_error(
            f"{kernel.info.name} has no configuration {config}: it has {count}.",
            kernel.info.line,
            "Configurations are numbered from 0, in the order of the autotune decorator." if count else "",
        )


# --- from a launch ----------------------------------------------------------------------------


def _from_launch(launch: FoundLaunch, request: Request, target: Target) -> Specialization:
    check_config(launch.kernel, request.config)
    check_constants(launch.kernel, request)
    recorded, info = launch.recorded, launch.info
    if request.options or request.constants or request.config not in (None, recorded.config):
        recorded = repeat_launch(launch, request, target)
        info = replace(info, grid=recorded.grid or info.grid)
    return _specialization(launch.kernel, recorded, request, info)


def _specialization(
    kernel: FoundKernel, recorded: RecordedLaunch, request: Request, launch: Launch | None
) -> Specialization:
    arguments = describe_arguments(recorded)
    described = Specialized(
        kernel=kernel.info.name,
        line=kernel.info.line,
        language=kernel.info.language,
        arguments=arguments,
        options=display_options(recorded.options, request),
        signature=signatures.write(arguments, _constants(recorded)),
        launch=launch.index if launch is not None else None,
        launch_line=launch.line if launch is not None else None,
        config=recorded.config,
        grid=launch.grid if launch is not None else None,
        within_2_gib=pointers_within_range(recorded),
    )
    return Specialization(
        recorded.jit_function,
        recorded.signature,
        recorded.constexprs,
        recorded.attrs,
        recorded.options,
        described,
        torch_locations(kernel.interface),
    )


def _constants(recorded: RecordedLaunch) -> dict[str, Any]:
    return {
        name: recorded.constexprs.get((position,))
        for position, (name, kind) in enumerate(recorded.signature.items())
        if kind == "constexpr"
    }


def display_options(options: dict[str, Any], request: Request) -> dict[str, Any]:
    shown = {**shown_options(options), **{name: options.get(name) for name in request.options}}
    return {name: to_scalar(value) for name, value in shown.items()}


# --- from arguments ---------------------------------------------------------------------------


def _from_arguments(
    kernel: FoundKernel, found: SourceContents, request: Request, target: Target
) -> Specialization:
    check_config(kernel, request.config)
    config_index, preset, options = request.config, {}, {}
    if kernel.autotuner is not None:
        config_index = config_index or 0
        config = kernel.autotuner.configs[config_index]
        preset, options = dict(config.kwargs), config_options(config)
    check_constants(kernel, request)
    preset |= request.constants
    try:
        full = make_backend(triton_target(target)).parse_options({**options, **request.options}).__dict__
    except (AssertionError, TypeError, ValueError) as error:
        raise user_error(f"{type(error).__name__}: {error}", kernel.info.line) from error

    def recorded(chosen: dict[str, Argument | Constant]) -> RecordedLaunch:
        return _record(kernel, chosen, dict(full), config_index, target)

    if request.arguments is None:
        guesses, problem = fit_guesses(
            kernel,
            preset,
            target,
            lambda guesses: recorded(choices_of(guesses)),
        )
        if problem:
            _refuse_broken(found)
        specialization = _specialization(kernel, recorded(choices_of(guesses)), request, None)
        reasons = {name: guess.reason for name, guess in guesses.items()}
        return replace(specialization, described=replace(specialization.described, guesses=reasons))
    chosen = choose_arguments(kernel, request.arguments, preset, found.namespace)
    everything = {**{name: Constant(value) for name, value in preset.items()}, **chosen}
    return _specialization(kernel, recorded(everything), request, None)


def _record(
    kernel: FoundKernel,
    chosen: dict[str, Argument | Constant],
    options: dict[str, Any],
    config: int | None,
    target: Target,
) -> RecordedLaunch:
    """Return the launch that passes the chosen arguments."""
    backend = make_backend(triton_target(target))
    signature: dict[str, Any] = {}
    constexprs: dict[tuple[int, ...], Any] = {}
    attrs: dict[tuple[int, ...], Any] = {}
    bound: dict[str, Any] = {}
    for position, parameter in enumerate(kernel.jit_function.params):
        name = parameter.name
        argument = chosen[name]
        if isinstance(argument, Constant):
            signature[name], constexprs[(position,)] = "constexpr", argument.value
            bound[name] = argument.value
            continue
        if parameter.is_constexpr:
            raise user_error(
                f"{kernel.info.name}: {name!r} is a constexpr: it needs a value, not {argument.type}.",
                kernel.info.line,
            )
        signature[name], bound[name] = argument.type, argument.value
        if argument.specialization == "divisible by 16":
            # "S": within 2 GiB, which AMD's backend checks for a launch's tensors and NVIDIA's ignores.
            attrs[(position,)] = backend.parse_attr("DS" if argument.type.startswith("*") else "D")
        else:
            attrs[(position,)] = backend.parse_attr("")
    return RecordedLaunch(
        kernel.jit_function, signature, constexprs, attrs, options, bound, None, 0, None, config
    )

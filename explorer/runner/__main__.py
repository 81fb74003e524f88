"""Execute one run without a sandbox: a request as JSON on standard input, events on standard output.

    python -m explorer.runner           run the request as in the sandbox
    python -m explorer.runner --once    make the launch once for a profiler, without measuring

The source is executed without isolation, with the rights of the user who starts it.
"""

from __future__ import annotations

import sys

from explorer.model import Event, Outcome, Request, decode_request, encode_event
from explorer.pipeline.error_events import Emit, perform_work
from explorer.runner.job import begin_cuda, perform, prepare, warm_up


def main() -> None:
    """Read the request and print each event as it is emitted."""
    output = sys.stdout.buffer

    def emit(event: Event) -> None:
        output.write(encode_event(event))
        output.flush()

    once = "--once" in sys.argv[1:]
    if once:  # The profiler sends the request later.
        warm_up()
        begin_cuda()  # With a profiler, this takes seconds.
    request = decode_request(sys.stdin.buffer.read())
    if once:
        perform_work(lambda emit_once: _launch_once(request, emit_once), emit, "The run")
    else:
        perform(request, emit)


def _launch_once(request: Request, emit: Emit) -> Outcome:
    from explorer.runner.profilers.profile_once import launch_once

    launch_once(prepare(request, emit).launch)
    return "complete"


if __name__ == "__main__":
    main()

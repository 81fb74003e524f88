"""Do one run outside of the sandbox: a request as JSON on the standard input, events on the output.

    python -m explorer.measure           what the sandbox does
    python -m explorer.measure --once    take the launch, make it once for a profiler, and measure nothing

The source is run as it is, with the rights of whoever starts this.
"""

from __future__ import annotations

import sys

from explorer.measure.job import perform, prepare
from explorer.model import Event, Request, decode_request, encode_event
from explorer.pipeline.work import Emit, perform_work


def main() -> None:
    """Read the request and print each event as it comes."""
    output = sys.stdout.buffer

    def emit(event: Event) -> None:
        output.write(encode_event(event))
        output.flush()

    request = decode_request(sys.stdin.buffer.read())
    if "--once" in sys.argv[1:]:
        perform_work(lambda told: _launch_once(request, told), emit, "The run")
    else:
        perform(request, emit)


def _launch_once(request: Request, emit: Emit) -> None:
    from explorer.measure.once import launch_once

    launch_once(prepare(request, emit).launch)


if __name__ == "__main__":
    main()

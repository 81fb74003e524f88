"""Execute one job without a sandbox: a request as JSON on standard input, events on standard output.

For development only. The source is executed without isolation, with the rights of the user who starts it.
"""

from __future__ import annotations

import sys

from explorer.model import Event, decode_request, encode_event
from explorer.pipeline.job import perform


def main() -> None:
    """Read the request and print each event as it is emitted."""
    output = sys.stdout.buffer

    def emit(event: Event) -> None:
        output.write(encode_event(event))
        output.flush()

    perform(decode_request(sys.stdin.buffer.read()), emit)


if __name__ == "__main__":
    main()

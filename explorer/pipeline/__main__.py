"""Do one job outside of the sandbox: a request as JSON on the standard input, events on the output.

For development only: the source is run as it is, with the rights of whoever starts this.
"""

from __future__ import annotations

import json
import sys

from explorer.model import Argument, Request, encode_event
from explorer.pipeline.job import perform


def main() -> None:
    """Read the request and print each event as it comes."""
    fields = json.load(sys.stdin)
    if isinstance(fields.get("arguments"), list):
        fields["arguments"] = tuple(Argument(**argument) for argument in fields["arguments"])
    output = sys.stdout.buffer

    def emit(event: object) -> None:
        output.write(encode_event(event))  # type: ignore[arg-type]
        output.flush()

    perform(Request(**fields), emit)


if __name__ == "__main__":
    main()

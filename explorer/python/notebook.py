"""The saved page as the output of a cell of a notebook, in a frame that needs no server and no extension.

The frame has a separate origin, and the policy of the saved page forbids all network access. The page is
compressed, since a notebook stores the output of each cell.
"""

from __future__ import annotations

import base64
import gzip
import sys
from html import escape

_UNPACK = """<!doctype html><meta charset="utf-8"><script>
const bytes = Uint8Array.from(atob("{packed}"), (character) => character.charCodeAt(0));
new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text().then((page) => {{
  document.open();
  document.write(page);
  document.close();
}});
</script>"""


def page_frame(page: bytes, title: str, height: int) -> str:
    """Return the output of a cell that shows a saved page in a frame. `height` is in CSS pixels."""
    packed = base64.b64encode(gzip.compress(page, mtime=0)).decode()
    return (
        f'<iframe srcdoc="{escape(_UNPACK.format(packed=packed))}" title="{escape(title)}" '
        'sandbox="allow-scripts allow-downloads" allow="clipboard-write" '
        f'style="width: 100%; height: {height:d}px; border: 1px solid #8886; resize: vertical">'
        "</iframe>"
    )


def is_in_notebook() -> bool:
    """Return whether a kernel of Jupyter or marimo runs this program, and shows what its cells return."""
    ipython, marimo = sys.modules.get("IPython"), sys.modules.get("marimo")
    shell = ipython.get_ipython() if ipython else None
    return hasattr(shell, "kernel") or bool(marimo and marimo.running_in_notebook())

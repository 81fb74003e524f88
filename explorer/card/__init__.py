"""The preview image of a permalink: one result on 1200 × 630 pixels.

The image is drawn from the document of the compilation; `views` serves it.
"""

from explorer.card.canvas import Look
from explorer.card.picture import HEIGHT, WIDTH, draw_card

__all__ = ["HEIGHT", "WIDTH", "Look", "draw_card"]

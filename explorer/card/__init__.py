"""The picture that a chat shows beside a link: one result on 1200 × 630 pixels."""

from explorer.card.canvas import Look
from explorer.card.picture import HEIGHT, WIDTH, draw_card

__all__ = ["HEIGHT", "WIDTH", "Look", "draw_card"]

"""Pure functions over stored text and numbers; nothing here imports Triton or torch, or knows a request."""

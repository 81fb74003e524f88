"""Pure functions over stored text and numbers; nothing here knows Triton, torch or a request."""

"""The user's side of the wall: source in, events out, by the standard library, triton and torch."""

"""The compile pipeline. Jail side: source in, events out. Standard library, triton and torch only."""

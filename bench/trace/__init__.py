"""Times the parts of a compilation, in every process that takes part in it."""

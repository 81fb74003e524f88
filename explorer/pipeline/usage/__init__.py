"""Finds how a kernel uses its parameters: as addresses, sizes, factors, shapes or flags.

In: a jitted function. Out: facts about each parameter and about the elements it points to, each with the line
of the source that shows it. Calls of other jitted functions are followed. `explorer.pipeline.guesses` draws
conclusions from the facts.
"""

from explorer.pipeline.usage.facts import Fact, Facts, Usage
from explorer.pipeline.usage.function import find_usage

__all__ = ["Fact", "Facts", "Usage", "find_usage"]

"""How the tests are divided among the processes of pytest-xdist, which has no types."""

from __future__ import annotations

from xdist.scheduler import LoadGroupScheduling  # type: ignore[import-untyped]
from xdist.workermanage import WorkerController  # type: ignore[import-untyped]


class CrashSafeScheduling(LoadGroupScheduling):  # type: ignore[misc]
    """Runs the tests that a crashed process has left.

    In pytest-xdist 3.8 the groups that the process had completed are given out again. They are empty, so the
    process that gets one waits for ever, as does a new process whose first group has one test. And a new
    process gets tests before it has collected any, which is an error.
    """

    def remove_node(self, node: WorkerController) -> str | None:
        """Return the test during which a process ended, or None if it had completed all."""
        groups = self.assigned_work.pop(node)
        left = [(scope, test) for scope, group in groups.items() for test, done in group.items() if not done]
        if not left:
            return None
        crashed: str = left[0][1]
        for scope, test in left[1:]:
            self.workqueue.setdefault(scope, {})[test] = False
        for other in self.nodes:
            self._reschedule(other)
        return crashed

    def _reschedule(self, node: WorkerController) -> None:
        # With --maxfail, a process may be told to end, and gets no further tests.
        if node in self.registered_collections and not node.shutting_down:
            super()._reschedule(node)
            # A process runs a test when it knows the next one.
            while self.workqueue and self._pending_of(self.assigned_work[node]) < 2:
                super()._reschedule(node)

    def _assign_work_unit(self, node: WorkerController) -> None:
        """Assign the next group. The process may have other tests of this group already."""
        scope = next(iter(self.workqueue))
        assigned = self.assigned_work.setdefault(node, {}).get(scope, {})
        super()._assign_work_unit(node)
        self.assigned_work[node][scope] = {**assigned, **self.assigned_work[node][scope]}

"""Direct: every request is forwarded, every claim accepted. The reference without any assurance."""

from __future__ import annotations

from studies.methods.base import Method, Outcome
from studies.methods.requests import Request


class Direct(Method):
    """Forwards."""

    name = "Direct"

    def run(self, request: Request, following: tuple[Request, ...]) -> Outcome:  # noqa: ARG002
        """Send it."""
        action, provider = self.action(request.step, request.provider)
        reply = self.device.call(action, provider, self.number)
        return Outcome("dispatched", (reply.response,))

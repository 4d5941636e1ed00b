"""Four ways to carry out a stream of requests on a device: ADF-EA, two published algorithms, and none at
all.
"""

from studies.methods.adf import Adf
from studies.methods.base import Method, Outcome, Setting
from studies.methods.direct import Direct
from studies.methods.requests import PlanStep, Request, stream
from studies.methods.toolgate import ToolGate
from studies.methods.vtc import VerifiedToolCalls

METHODS: dict[str, type[Method]] = {
    "ADF-EA": Adf,
    "ToolGate": ToolGate,
    "VTC": VerifiedToolCalls,
    "Direct": Direct,
}

__all__ = [
    "METHODS",
    "Adf",
    "Direct",
    "Method",
    "Outcome",
    "PlanStep",
    "Request",
    "Setting",
    "ToolGate",
    "VerifiedToolCalls",
    "stream",
]

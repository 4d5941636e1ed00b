"""Paths to the fields of messages, as contracts write them.

``pose.position.x``, ``data[0]``, ``points[-1].time``, ``position[name=elbow]``. The last one is the element
of ``position`` at the index where the list ``name`` beside it says ``elbow``.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

_PART = r"[a-z][a-z0-9_]*(\[(-1|\d{1,4}|[a-z][a-z0-9_]*=[^\[\]=]{1,128})\])?"
FieldPath = Annotated[str, StringConstraints(pattern=rf"^{_PART}(\.{_PART})*$")]
"""A field of a message."""
FieldPathOrNone = Annotated[str, StringConstraints(pattern=rf"^({_PART}(\.{_PART})*)?$")]
"""The same, or empty."""

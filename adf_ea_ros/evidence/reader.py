"""From a message on a route to an observation, as the route declares (sections 3.2 and 3.6)."""

from __future__ import annotations

from typing import Any

from adf_ea_ros.contracts.conditions import Ns, Value
from adf_ea_ros.contracts.model import FieldOr, Grade, Route
from adf_ea_ros.evidence import reasons
from adf_ea_ros.evidence.readings import Reading, Unreadable, field, reading, stamp
from adf_ea_ros.evidence.types import Observation


class RouteReader:
    """Reads the messages of one route. ``name`` is "provider/route"."""

    def __init__(self, name: str, route: Route) -> None:
        if route.derive is not None and (route.value.map or not route.value.field):
            raise ValueError(f"{name}: a derived reading needs a field, and no map")
        self.name = name
        self._path = route.path
        self._value = _reading_of(route)
        self._subject = _plain(route.subject)
        self._grade = Grade[route.grade.upper()]
        self._stamp = field(route.stamp) if route.stamp else None
        self._producer = reading(route.producer) if route.producer else None
        self._correlation = [(name, reading(path)) for name, path in sorted(route.correlation.items())]
        self._relative = route.derive is not None and route.derive.since_dispatch

    def read(
        self,
        message: Any,
        *,
        source: str,
        received: Ns,
        sent: Ns | None = None,
        publisher: str = "",
        sequence: int = -1,
    ) -> Observation:
        """The observation that ``message`` makes.

        ``source`` is the provider whose node was seen to publish it; ``received`` our ROS time; ``sent`` the
        capture time for routes that name no stamp field: the middleware's source timestamp, or the time of
        reception where the operator has said that this is good enough.

        Raises:
            Unreadable: a field is missing, or holds no value or no time.
        """
        if self._stamp is not None:
            captured = stamp(self._stamp(message))
        elif sent is not None and sent > 0:
            captured = sent
        else:
            raise Unreadable(
                reasons.NO_STAMP, "the route names no stamp field, and the middleware gave no time"
            )
        producer = str(self._producer(message)) if self._producer is not None else ""
        subject = str(self._subject(message))
        if producer:
            occurrence = f"{self.name}|{producer}|{subject}|{captured}"
        elif publisher and sequence >= 0:
            occurrence = f"{self.name}|{publisher}|{sequence}"
        else:
            occurrence = f"{self.name}|{source}|{subject}|{captured}|{sequence}"
        return Observation(
            id=occurrence,
            route=self.name,
            source=source,
            subject=subject,
            path=self._path,
            value=self._value(message),
            stamp=captured,
            received=received,
            producer=producer,
            sequence=sequence,
            grade=self._grade,
            fields=tuple([(name, read(message)) for name, read in self._correlation]),
            publisher=publisher,
            relative=self._relative,
        )


def _plain(origin: FieldOr) -> Reading:
    """Reads a constant, a field, or a field's translation."""
    if origin.const is not None:
        constant: Value = origin.const
        return lambda _: constant
    read, names = reading(origin.field), origin.map
    if not names:
        return read

    def translate(message: Any) -> Value:
        value = read(message)
        word = str(value).lower() if isinstance(value, bool) else str(value)
        if word not in names:
            raise Unreadable(reasons.UNNAMED, f"{word} is not among {', '.join(sorted(names))}")
        return names[word]

    return translate


def _reading_of(route: Route) -> Reading:
    if route.derive is None or not route.value.field:
        return _plain(route.value)
    return reading(route.value.field, route.derive)

"""Values from messages, plain and derived (section 3.2; appendix D for what counts as a value).

Works on any object with attributes, so it needs no ROS. What cannot be read is never zero and never false:
NaN, infinity, an empty array, a missing joint, a quaternion that is no rotation each raise ``Unreadable``,
with the reason code under which the message is refused as evidence.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from transforms3d import quaternions

from adf_ea_ros.contracts import readings as derivations
from adf_ea_ros.contracts.conditions import Ns, Value
from adf_ea_ros.contracts.fields import FieldError, get_field
from adf_ea_ros.contracts.readings import Derivation
from adf_ea_ros.evidence import reasons

Reading = Callable[[Any], Value]
"""Reads the value from a message, or raises ``Unreadable``."""

Vector = npt.NDArray[np.float64]

_ROTATION_TOLERANCE = 0.01
"""How far the length of a quaternion may be from 1: drivers round, but an uninitialized one has length 0."""

_STEEP = 1e-6
"""Below this, the horizontal part of the x axis is too short to have a heading."""


class Unreadable(Exception):
    """A message without a usable value; ``code`` is the reason code."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


def field(path: str) -> Callable[[Any], Any]:
    """A function that gives what is at ``path`` of a message, whatever its type, or raises ``Unreadable``.

    Most paths are names with dots, for which Python has a fast way; ``get_field`` knows the others.
    """
    plain = operator.attrgetter(path) if "[" not in path else None

    def get(message: Any) -> Any:
        try:
            return plain(message) if plain is not None else get_field(message, path)
        except (AttributeError, FieldError) as error:
            raise Unreadable(reasons.NO_VALUE, f"no {path} in {type(message).__name__}: {error}") from error

    return get


def scalar(thing: Any) -> Value:
    """A boolean, an integer, a finite number or a text, also from numpy's own types and a single ``byte``.

    Raises:
        Unreadable: anything else.
    """
    if isinstance(thing, np.generic):
        thing = thing.item()
    if isinstance(thing, bytes) and len(thing) == 1:
        return thing[0]
    if isinstance(thing, float):
        if not math.isfinite(thing):
            raise Unreadable(reasons.NOT_A_VALUE, f"{thing} is not finite")
        return thing
    if isinstance(thing, (bool, int, str)):
        return thing
    raise Unreadable(reasons.NO_VALUE, f"{type(thing).__name__} is not a single value")


def number(thing: Any) -> float:
    """A finite number; a boolean is none.

    Raises:
        Unreadable: anything else.
    """
    value = scalar(thing)
    if isinstance(value, (bool, str)):
        raise Unreadable(reasons.NO_VALUE, f"{value!r} is not a number")
    return float(value)


def vector(thing: Any) -> Vector:
    """A vector from an object with x, y and z (or x and y alone), or from an array of numbers.

    Raises:
        Unreadable: neither, an empty array, or a component that is not a finite number.
    """
    if hasattr(thing, "x") and hasattr(thing, "y"):
        parts = [thing.x, thing.y, thing.z] if hasattr(thing, "z") else [thing.x, thing.y]
    else:
        try:
            parts = list(thing)
        except TypeError as error:
            raise Unreadable(reasons.NO_VALUE, f"{type(thing).__name__} is not a vector") from error
    if not parts:
        raise Unreadable(reasons.NO_VALUE, "an empty array is not a vector")
    return np.array([number(part) for part in parts])


def rotation(thing: Any) -> Vector:
    """A unit quaternion w, x, y, z from an object with those attributes.

    Raises:
        Unreadable: not one, or its length is not 1, as of an uninitialized message.
    """
    try:
        parts = [thing.w, thing.x, thing.y, thing.z]
    except AttributeError as error:
        raise Unreadable(reasons.NO_VALUE, f"{type(thing).__name__} is not a quaternion") from error
    quaternion = np.array([number(part) for part in parts])
    length = float(np.linalg.norm(quaternion))
    if abs(length - 1.0) > _ROTATION_TOLERANCE:
        raise Unreadable(reasons.NOT_A_VALUE, f"a quaternion of length {length:.3g} is not a rotation")
    unit: Vector = quaternion / length
    return unit


def distance(position: Vector, target: Vector) -> float:
    """The distance of two positions, in their unit; in the plane where the target has only x and y.

    Raises:
        Unreadable: the position has fewer dimensions than the target.
    """
    if len(position) < len(target) or len(target) not in (2, 3):
        raise Unreadable(reasons.NO_VALUE, f"no distance from {len(position)} to {len(target)} dimensions")
    return float(np.linalg.norm(position[: len(target)] - target))


def angle(one: Vector, other: Vector) -> float:
    """The angle (rad, 0 to pi) of the rotation that takes one orientation into the other.

    From the sine and the cosine of its half, so that small angles keep their digits. A quaternion and its
    negative are the same orientation.
    """
    between = quaternions.qmult(quaternions.qconjugate(one), other)
    return 2.0 * math.atan2(float(np.linalg.norm(between[1:])), abs(float(between[0])))


def yaw(orientation: Vector) -> float:
    """The heading (rad, -pi to pi) of an orientation: where its x axis points, seen from above.

    Raises:
        Unreadable: the x axis points straight up or down, and so nowhere.
    """
    x_axis = quaternions.quat2mat(orientation)[:, 0]
    if math.hypot(x_axis[0], x_axis[1]) < _STEEP:
        raise Unreadable(reasons.NOT_A_VALUE, "the x axis is vertical: there is no heading")
    return math.atan2(x_axis[1], x_axis[0])


def wrap(turn: float) -> float:
    """An angle (rad) brought into -pi (excluded) to pi."""
    turned = math.remainder(turn, 2.0 * math.pi)
    return math.pi if turned == -math.pi else turned


def reading(path: str, derivation: Derivation | None = None) -> Reading:
    """The function that reads the value at the field ``path``, derived as the route says."""
    get = field(path)
    if derivation is None:
        return lambda message: scalar(get(message))
    measure = _measure(derivation)
    scale, offset = derivation.scale, derivation.offset

    def read(message: Any) -> Value:
        return number(scale * measure(get(message), message) + offset)

    return read


def _measure(derivation: Derivation) -> Callable[[Any, Any], float]:
    """From the field and the message to the number, before any change of unit."""
    if isinstance(derivation, derivations.Norm):
        return lambda thing, _: float(np.linalg.norm(vector(thing)))
    if isinstance(derivation, derivations.Distance):
        if derivation.to is None:
            target = field(derivation.to_field)
            return lambda thing, message: distance(vector(thing), vector(target(message)))
        position = np.array(derivation.to)
        return lambda thing, _: distance(vector(thing), position)
    if isinstance(derivation, derivations.Angle):
        if derivation.to is None:
            aim = field(derivation.to_field)
            return lambda thing, message: angle(rotation(thing), rotation(aim(message)))
        orientation = rotation(derivation.to)
        return lambda thing, _: angle(rotation(thing), orientation)
    if isinstance(derivation, derivations.Yaw):
        zero = derivation.zero
        return lambda thing, _: wrap(yaw(rotation(thing)) - zero)
    return lambda thing, _: number(thing)


def stamp(thing: Any) -> Ns:
    """Nanoseconds from a ``builtin_interfaces/Time``, whole nanoseconds, or seconds as a floating-point
    number.

    Raises:
        Unreadable: none of these, or zero, which is how an unset stamp looks.
    """
    if hasattr(thing, "sec") and hasattr(thing, "nanosec"):
        time = int(thing.sec) * 1_000_000_000 + int(thing.nanosec)
    elif isinstance(value := scalar(thing), float):
        time = round(value * 1e9)
    elif isinstance(value, int) and not isinstance(value, bool):
        time = value
    else:
        raise Unreadable(reasons.NO_STAMP, f"{type(thing).__name__} is not a time")
    if time <= 0:
        raise Unreadable(reasons.NO_STAMP, "the stamp is not set")
    return time

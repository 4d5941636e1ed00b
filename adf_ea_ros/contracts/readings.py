"""Derived readings: what a route makes of a field that is not itself a value (block V, section 3.2).

A condition compares one boolean, number or text. Robots report positions, orientations and vectors; a route
says here how such a field becomes a number. A joint or an element of an array needs no derivation: a field
path such as ``position[name=elbow]`` or ``data[3]`` names it. Numbers are in the message's unit; angles are
in radians.

    value: {field: pose.position}
    derive: {kind: distance, to: [1.0, 2.0]}
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from adf_ea_ros.contracts.paths import FieldPathOrNone


class _Derivation(BaseModel):
    """What all kinds have: a change of unit, and what the reading is compared with."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    scale: float = 1.0  # the reading times this,
    offset: float = 0.0  # and plus this
    since_dispatch: bool = False
    """The condition speaks of the change since the attempt was dispatched, not of the reading itself."""

    @model_validator(mode="after")
    def _scale_keeps_something(self) -> _Derivation:
        if self.scale == 0.0:
            raise ValueError("a scale of 0 makes every reading the same")
        return self


class Number(_Derivation):
    """The number itself, in another unit or as a change since the dispatch."""

    kind: Literal["number"]


class Norm(_Derivation):
    """The length of a vector: a field with x, y, z, or an array of numbers."""

    kind: Literal["norm"]


class Distance(_Derivation):
    """The distance of a position from a fixed one, or from one that the message carries."""

    kind: Literal["distance"]
    to: Annotated[tuple[float, ...], Field(min_length=2, max_length=3)] | None = None
    """x, y and z; without z the distance is taken in the plane."""
    to_field: FieldPathOrNone = ""

    @model_validator(mode="after")
    def _one_target(self) -> Distance:
        if (self.to is None) == (not self.to_field):
            raise ValueError("give either to or to_field")
        return self


class Quaternion(BaseModel):
    """A rotation with the field names of ``geometry_msgs/Quaternion``."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    w: float

    @model_validator(mode="after")
    def _unit(self) -> Quaternion:
        if abs(math.hypot(self.x, self.y, self.z, self.w) - 1.0) > 1e-3:
            raise ValueError("a rotation is a quaternion of length 1")
        return self


class Angle(_Derivation):
    """The angle between an orientation and a fixed one, or one that the message carries."""

    kind: Literal["angle"]
    to: Quaternion | None = None
    to_field: FieldPathOrNone = ""

    @model_validator(mode="after")
    def _one_target(self) -> Angle:
        if (self.to is None) == (not self.to_field):
            raise ValueError("give either to or to_field")
        return self


class Yaw(_Derivation):
    """The heading of an orientation about z, as its deviation from ``zero``, from -pi to pi."""

    kind: Literal["yaw"]
    zero: float = 0.0


Derivation = Annotated[Number | Norm | Distance | Angle | Yaw, Field(discriminator="kind")]

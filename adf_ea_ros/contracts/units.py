"""Units as people write them in contracts: durations with a unit, and the units of values.

Nothing is converted. A contract and a readback that name different units of one fact are a fault, because a
silent conversion is where a factor of a thousand hides.
"""

from __future__ import annotations

import re

from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.contracts.faults import suggestion

_SCALE = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "min": 60_000_000_000, "h": 3_600_000_000_000}
DURATION_PATTERN = r"^\s*[0-9]{1,12}(\.[0-9]{1,9})?\s*(ns|us|ms|s|min|h)\s*$"
_FORM = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)\s*(ns|us|ms|s|min|h)")
_OTHER_UNIT = re.compile(r"[0-9.]+\s*([^\s0-9.]+)")
_LONGEST = (1 << 63) - 1

UNITS: dict[str, str] = {
    "m": "length", "mm": "length", "cm": "length", "um": "length", "km": "length",
    "rad": "angle", "deg": "angle",
    "s": "time", "ms": "time", "min": "time", "h": "time",
    "m/s": "speed", "mm/s": "speed", "rad/s": "angular speed", "deg/s": "angular speed", "rpm": "angular speed",
    "m/s^2": "acceleration", "rad/s^2": "angular acceleration",
    "N": "force", "Nm": "torque", "kg": "mass", "g": "mass", "mg": "mass", "ug": "mass",
    "degC": "temperature", "K": "temperature", "degF": "temperature",
    "Pa": "pressure", "kPa": "pressure", "bar": "pressure", "mbar": "pressure", "hPa": "pressure",
    "V": "voltage", "mV": "voltage", "A": "current", "mA": "current", "W": "power", "kW": "power",
    "J": "energy", "Wh": "energy", "Hz": "frequency", "kHz": "frequency",
    "L": "volume", "mL": "volume", "uL": "volume", "m^3": "volume",
    "L/min": "flow", "mL/min": "flow", "mL/s": "flow", "uL/s": "flow",
    "lx": "illuminance", "cd": "luminous intensity", "lm": "luminous flux",
    "mol": "amount", "mmol": "amount", "mol/L": "concentration", "pH": "acidity",
    "percent": "ratio", "1": "ratio", "count": "number", "dB": "level", "T": "magnetic flux density",
}  # fmt: skip
"""Units of values and what they measure. Others are written with ``x-`` before them: ``x-drops``."""
_ALIASES = {
    "c": "degC", "celsius": "degC", "°c": "degC", "degrees_celsius": "degC", "fahrenheit": "degF", "kelvin": "K",
    "meter": "m", "meters": "m", "metre": "m", "metres": "m", "millimeter": "mm", "radian": "rad", "radians": "rad",
    "degree": "deg", "degrees": "deg", "second": "s", "seconds": "s", "sec": "s", "newton": "N", "n": "N", "n*m": "Nm",
    "n.m": "Nm", "kilogram": "kg", "gram": "g", "%": "percent", "volt": "V", "volts": "V", "ampere": "A", "watt": "W",
    "hertz": "Hz", "ml": "mL", "l": "L", "ul": "uL", "lux": "lx", "ph": "pH", "pascal": "Pa", "ml/min": "mL/min",
}  # fmt: skip


def parse_duration(text: object) -> Ns:
    """Nanoseconds from a number with a unit.

    Raises:
        ValueError: not a string of that form. A bare number is refused: its unit would be a guess.
    """
    match = _FORM.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        hint = ""
        other = _OTHER_UNIT.fullmatch(text.strip()) if isinstance(text, str) else None
        if other is not None:
            hint = suggestion(other[1], _SCALE) or (suggestion(other[1].rstrip("s")[:3], _SCALE))
        shown = repr(text)[:60]
        raise ValueError(f"{shown} is not a duration; write a number with a unit, one of {', '.join(_SCALE)}: '20 s'{hint}")
    whole, _, fraction = match[1].partition(".")
    scale = _SCALE[match[2]]
    exact = int(whole) * scale + round(int(fraction or "0") * scale / 10 ** len(fraction))
    if exact > _LONGEST:
        raise ValueError(f"{text!r} is longer than 292 years, the longest span of ROS time")
    return exact


def format_duration(span: Ns) -> str:
    """The shortest exact spelling of a span, such as ``20 s``."""
    for unit in ("h", "min", "s", "ms", "us"):
        if span and span % _SCALE[unit] == 0:
            return f"{span // _SCALE[unit]} {unit}"
    return f"{span} ns"


def unit_fault(unit: str) -> str:
    """What is wrong with the unit of a value, or nothing."""
    if not unit or unit in UNITS or (unit.startswith("x-") and len(unit) > 2):
        return ""
    alias = _ALIASES.get(unit.lower())
    hint = f"; did you mean {alias!r}?" if alias else suggestion(unit, UNITS)
    return f"{unit[:40]!r} is not a known unit{hint} (an unlisted unit begins with x-, such as 'x-drops')"


def mismatch(wanted: str, found: str) -> str:
    """What to say where two units of one fact differ, or nothing where they agree."""
    if wanted == found:
        return ""
    if UNITS.get(wanted) is not None and UNITS.get(wanted) == UNITS.get(found):
        return f"unit {found!r} where {wanted!r} is expected: both measure {UNITS[wanted]}, but nothing is converted"
    return f"unit {found!r} where {wanted!r} is expected" if found else f"no unit where {wanted!r} is expected"

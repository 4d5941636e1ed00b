"""Units as people write them in contracts: durations with a unit, and the units of values.

Nothing is converted. A contract and a readback that name different units of one fact are a fault, because a
silent conversion is where a factor of a thousand hides.
"""

from __future__ import annotations

import re
from fractions import Fraction

from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.contracts.faults import suggestion

_SCALE = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "min": 60_000_000_000,
    "h": 3_600_000_000_000,
}
DURATION_PATTERN = r"^\s*[0-9]{1,12}(\.[0-9]{1,9})?\s*(ns|us|ms|s|min|h)\s*$"
_FORM = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)\s*(ns|us|ms|s|min|h)")
_OTHER_UNIT = re.compile(r"[0-9.]+\s*([^\s0-9.]+)")
_LONGEST = (1 << 63) - 1

_KINDS = {
    "length": "m mm cm um km",
    "angle": "rad deg",
    "time": "s ms min h",
    "speed": "m/s mm/s",
    "angular speed": "rad/s deg/s rpm",
    "acceleration": "m/s^2",
    "angular acceleration": "rad/s^2",
    "force": "N",
    "torque": "Nm",
    "mass": "kg g mg ug",
    "temperature": "degC K degF",
    "pressure": "Pa kPa hPa bar mbar",
    "voltage": "V mV",
    "current": "A mA",
    "power": "W kW",
    "energy": "J Wh",
    "frequency": "Hz kHz",
    "volume": "L mL uL m^3",
    "flow": "L/min mL/min mL/s uL/s",
    "illuminance": "lx",
    "luminous intensity": "cd",
    "luminous flux": "lm",
    "magnetic flux density": "T",
    "amount": "mol mmol",
    "concentration": "mol/L",
    "acidity": "pH",
    "ratio": "percent 1",
    "number": "count",
    "level": "dB",
}
UNITS: dict[str, str] = {unit: kind for kind, units in _KINDS.items() for unit in units.split()}
"""Units of values and what they measure. Others are written with ``x-`` before them: ``x-drops``."""
_SPELLINGS = {
    "degC": "c °c celsius degrees_celsius degree_celsius",
    "degF": "fahrenheit",
    "K": "kelvin",
    "m": "meter meters metre metres",
    "mm": "millimeter millimeters",
    "rad": "radian radians",
    "deg": "degree degrees",
    "s": "second seconds sec",
    "N": "newton newtons",
    "Nm": "n*m n.m",
    "kg": "kilogram kilograms",
    "g": "gram grams",
    "percent": "%",
    "V": "volt volts",
    "A": "ampere amperes amps",
    "W": "watt watts",
    "Hz": "hertz",
    "L": "liter liters litre",
    "lx": "lux",
    "Pa": "pascal",
}
_ALIASES = {spelling: unit for unit, spellings in _SPELLINGS.items() for spelling in spellings.split()}
_ALIASES |= {unit.lower(): unit for unit in UNITS if unit.lower() not in UNITS}


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
        raise ValueError(
            f"{shown} is not a duration; write a number with a unit, one of {', '.join(_SCALE)}: '20 s'{hint}"
        )
    whole, _, fraction = match[1].partition(".")
    scale = _SCALE[match[2]]
    exact = int(whole) * scale + round(Fraction(int(fraction or "0") * scale, 10 ** len(fraction)))
    if exact > _LONGEST:
        raise ValueError(f"{text!r} is longer than 292 years, the longest span of ROS time")
    return exact


def format_duration(span: Ns) -> str:
    """The shortest exact spelling of a span, such as ``20 s``."""
    for unit in ("h", "min", "s", "ms", "us"):
        if span and span % _SCALE[unit] == 0:
            return f"{span // _SCALE[unit]} {unit}"
    return f"{span} ns"


def nearest_unit(spelling: str) -> str:
    """The known unit that a spelling of another world means for certain, or nothing."""
    return spelling if spelling in UNITS else _ALIASES.get(spelling.rsplit(":", 1)[-1].lower(), "")


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
        return (
            f"unit {found!r} where {wanted!r} is expected: both measure {UNITS[wanted]}, but nothing "
            "is converted"
        )
    return (
        f"unit {found!r} where {wanted!r} is expected" if found else f"no unit where {wanted!r} is expected"
    )

"""Tables beside the paper's figures, plots, raw events, and the page that shows them."""

from studies.report.model import Check, Plot, Result, Table

__all__ = ["Check", "Plot", "Result", "Table"]

"""One client of a raw action type, not one line changed, under the same faults without a gate and with it."""

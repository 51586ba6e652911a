"""The keys' resistor ladder on an ADC pin: which level is read says which key is down."""

from machine import ADC, Pin


def ladder(pin: int) -> ADC:
    """The input; `read_u16()` gives 0 to 65535 over the reference voltage. A wire that is off: the pull-up's 65535."""
    return ADC(Pin(pin))

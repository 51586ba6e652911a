"""The seat nodes' bus: RS-485 on a UART, listening only, so the transceiver's driver is wired off."""

from machine import UART, Pin


def seat_bus(number: int, tx: int, rx: int) -> UART:
    """The UART; `any`, `readinto` do not wait. 115,200 Bd 8N1; 256 bytes are 22 ms of a full bus."""
    return UART(number, baudrate=115200, tx=Pin(tx), rx=Pin(rx), rxbuf=256, timeout=0)

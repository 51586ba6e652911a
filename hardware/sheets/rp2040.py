"""What the RP2040's pins can be, typed as data from its datasheet, for the checks: 1.4.3 (GPIO functions), 4.5.2 (PWM),
4.9 (ADC), 3.1 (PIO), 2.5 (DMA)."""

from __future__ import annotations

GPIOS = range(30)
ON_HEADER = (*range(23), 26, 27, 28)  # of a Raspberry Pi Pico
ON_BOARD = {29: "ADC3"}  # wired on the Pico itself: a third of VSYS (Raspberry Pi Pico datasheet 2.1)

# Column F1 of the table "GPIO functions", which repeats every 16 pins; F2 every 16; F3 every 4.
SPI = (
    *("SPI0 RX", "SPI0 CSn", "SPI0 SCK", "SPI0 TX") * 2,
    *("SPI1 RX", "SPI1 CSn", "SPI1 SCK", "SPI1 TX") * 2,
)
UART = (
    *("UART0 TX", "UART0 RX", "UART0 CTS", "UART0 RTS"),
    *("UART1 TX", "UART1 RX", "UART1 CTS", "UART1 RTS") * 2,
    *("UART0 TX", "UART0 RX", "UART0 CTS", "UART0 RTS"),
)
I2C = ("I2C0 SDA", "I2C0 SCL", "I2C1 SDA", "I2C1 SCL")
ANYWHERE = frozenset({"SIO in", "SIO out", "PIO0 in", "PIO0 out", "PIO1 in", "PIO1 out"})
ADC = {26: "ADC0", 27: "ADC1", 28: "ADC2", 29: "ADC3"}

PIO_BLOCKS, PIO_MACHINES, PIO_WORDS = 2, 4, 32
DMA_CHANNELS = 12
PIN_MA = 12.0  # the strongest drive that a pad can be set to (5.5.3.3)
ALL_PINS_MA = 50.0  # sourced by all pins together (5.5.3.4)


def pwm(gpio: int) -> str:
    """The PWM slice and channel of a pin: "PWM2 B". Two pins 16 apart share one."""
    return f"PWM{gpio >> 1 & 7} {'AB'[gpio & 1]}"


def functions(gpio: int) -> frozenset[str]:
    """Everything that this pin can be."""
    found = {SPI[gpio % 16], UART[gpio % 16], I2C[gpio % 4], pwm(gpio)}
    if gpio in ADC:
        found.add(ADC[gpio])
    return ANYWHERE | found

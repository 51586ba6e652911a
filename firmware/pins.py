"""GPIO numbers for board.py. Written by `make hardware` from hardware/board.toml: change that."""

from micropython import const

HOST_TX = const(0)  # UART0 TX
HOST_RX = const(1)  # UART0 RX
I2C_SDA = const(8)  # I2C0 SDA
I2C_SCL = const(9)  # I2C0 SCL
BOTTOM_CLK = const(10)  # PIO0 in
BOTTOM_DATA = const(11)  # PIO0 in
BOTTOM_NDATA = const(12)  # PIO0 in
TOP_CLK = const(13)  # PIO0 in
TOP_DATA = const(14)  # PIO0 in
THROAT = const(15)  # PIO0 in
LIP = const(16)  # PIO0 in
LANE_DATA = const(17)  # SIO in
LANE_CLOCK = const(18)  # SIO out
LANE_LOAD = const(19)  # SIO out
BAR = const(20)  # SIO out
PIEZO = const(21)  # PWM2 B
LID = const(22)  # SIO in
DOUBLE_FEED = const(26)  # ADC0
AMBIENT = const(27)  # ADC1
KEYS = const(28)  # ADC2
SUPPLY = const(29)  # ADC3

# Only with the variant seats.
TAMPER = const(2)  # SIO in
HEAD_EMIT = const(3)  # SIO out
SEAT_TX = const(4)  # UART1 TX
SEAT_RX = const(5)  # UART1 RX
SEAT_DE = const(6)  # SIO out
DOUBLE_EMIT = const(7)  # SIO out

# Only with the variant rfid.
RFID_SCK = const(2)  # SPI0 SCK
RFID_MOSI = const(3)  # SPI0 TX
RFID_MISO = const(4)  # SPI0 RX
RFID_NSS = const(5)  # SIO out
RFID_BUSY = const(6)  # SIO in
RFID_RESET = const(7)  # SIO out

"""The buzzer: a piezo disc on a PWM pin."""

from machine import PWM, Pin


class Piezo:
    """`tone(hertz)`: sounds until told otherwise, 0 for silence. `volume`: the duty, 0 to 32768 of 65535."""

    def __init__(self, pin: int, volume: int):
        self._pwm = PWM(Pin(pin), freq=440, duty_u16=0)
        self._volume = volume
        self._hertz = 0

    def tone(self, hertz: int) -> None:
        if hertz == self._hertz:
            return
        self._hertz = hertz
        if hertz:
            self._pwm.freq(hertz)
        self._pwm.duty_u16(self._volume if hertz else 0)

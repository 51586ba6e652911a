# Stands in for MicroPython's rp2: what drivers/sampler.py programs (PIO, state machine, DMA ring) is what is filled.
#
# A PIO program is run with recording stubs, as the real assembler does, to learn how many pins a sample has and how
# many cycles it takes; the DMA channel that reads the state machine then stores the model's samples into the firmware's
# own ring. Registers: RP2040 datasheet 2.5.7, CTRL_TRIG. What the stand-in does not know raises NotImplementedError.
import struct

import uctypes

import _model

_MODEL_HZ = 1000000 // _model.SAMPLE_US


class PIO:
    IN_LOW, IN_HIGH, OUT_LOW, OUT_HIGH = 0, 1, 2, 3
    SHIFT_LEFT, SHIFT_RIGHT = 0, 1
    JOIN_NONE, JOIN_TX, JOIN_RX = 0, 1, 2
    IRQ_SM0, IRQ_SM1, IRQ_SM2, IRQ_SM3 = 256, 512, 1024, 2048


class _Op:
    def __init__(self, name, args):
        self.name, self.args, self.wait = name, args, 0

    def __getitem__(self, wait):
        self.wait = wait
        return self

    delay = __getitem__

    def side(self, value):
        return self


class _Program:
    def __init__(self, ops, options):
        self.ops, self.options = ops, options
        taken = [op for op in ops if op.name == "in_"]
        if len(taken) != 1 or taken[0].args[0] != "pins":
            raise NotImplementedError("the stand-in PIO knows programs with one in_(pins, n)")
        self.bits = taken[0].args[1]
        self.loops = any(op.name == "jmp" for op in ops)
        self.cycles = sum(1 + op.wait for op in ops)  # of one sample, if nothing loops


_WORDS = "pins x y null isr osr pindirs block noblock x_dec y_dec not_x not_y pin gpio".split(" ")
_OPS = "in_ push nop set jmp mov out pull wait irq".split(" ")


def asm_pio(**options):
    def assemble(body):
        ops = []

        def recorder(name):
            def record(*args, **_):
                ops.append(_Op(name, args))
                return ops[-1]

            return record

        names = body.__globals__
        kept = names.copy()
        names.clear()
        names.update({word: word for word in _WORDS})
        names.update({op: recorder(op) for op in _OPS})
        names.update({"wrap_target": ops.clear, "wrap": lambda: None, "label": lambda name: None})
        try:
            body()
        finally:
            names.clear()
            names.update(kept)
        return _Program(ops, options)

    return assemble


class StateMachine:
    def __init__(self, id, program=None, freq=-1, **options):
        self.id = id
        self._active = 0
        if program is not None:
            self.init(program, freq, **options)

    def init(self, program, freq=-1, **options):
        self._program = program
        self._options = dict(program.options)
        self._options.update(options)
        self._hz = freq if freq > 0 else 125000000

    def active(self, value=None):
        if value is not None:
            self._active = int(value)
        return self._active

    def restart(self):
        pass

    def rx_fifo(self):
        return 0

    def hz(self):
        """Samples a second."""
        return self._hz / self._program.cycles

    def layout(self):
        """(samples a pushed word, whether the first sample is in the low bits)"""
        bits, options = self._program.bits, self._options
        threshold = options.get("push_thresh", 32)
        right = options.get("in_shiftdir", PIO.SHIFT_LEFT) == PIO.SHIFT_RIGHT
        if not options.get("autopush") and all(op.name != "push" for op in self._program.ops):
            raise NotImplementedError("the state machine never pushes a sample")
        if threshold in (bits, 8) and bits <= 8:
            return 1, right
        if threshold == 32 and bits == 8:
            return 4, right
        raise NotImplementedError("the stand-in knows one sample a word, or four of eight bits")


_FIELDS = {  # name -> (shift, width)
    "enable": (0, 1), "high_pri": (1, 1), "size": (2, 2), "inc_read": (4, 1), "inc_write": (5, 1), "ring_size": (6, 4),
    "ring_sel": (10, 1), "chain_to": (11, 4), "treq_sel": (15, 6), "irq_quiet": (21, 1), "bswap": (22, 1),
    "sniff_en": (23, 1), "busy": (24, 1), "write_err": (29, 1), "read_err": (30, 1), "ahb_err": (31, 1),
}  # fmt: skip
_channels = {}


def _address(place):
    return place if isinstance(place, int) else uctypes.addressof(place)


class DMA:
    def __init__(self):
        free = [number for number in range(12) if number not in _channels]
        if not free:
            raise OSError(16)
        self.channel = free[0]
        _channels[self.channel] = self
        self._read = self._write = self._count = self._again = 0
        self._active = False
        self.ctrl = self.pack_ctrl()

    def close(self):
        self._active = False
        _channels.pop(self.channel, None)

    def pack_ctrl(self, default=None, **fields):
        if default is None:
            default = 0x3F << 15 | 1 | 2 << 2 | 1 << 4 | 1 << 5 | 1 << 21 | self.channel << 11
        for name, value in fields.items():
            shift, width = _FIELDS[name]
            mask = (1 << width) - 1
            default = default & ~(mask << shift) | (int(value) & mask) << shift
        return default

    @staticmethod
    def unpack_ctrl(value):
        return {name: value >> shift & ((1 << width) - 1) for name, (shift, width) in _FIELDS.items()}

    def config(self, read=None, write=None, count=None, ctrl=None, trigger=False):
        if read is not None:
            self._read = read
        if write is not None:
            self._write = _address(write)
            self._buffer = write  # the ring's memory stays alive
        if count is not None:
            self._count = self._again = count
        if ctrl is not None:
            self.ctrl = ctrl
        if trigger:
            self.active(1)

    def active(self, value=None):
        if value is not None:
            if value and not self._active:
                self._trigger()
            self._active = bool(value)
        return int(self._active)

    def irq(self, handler=None, hard=False):
        if handler is not None:
            raise NotImplementedError("the stand-in DMA gives no interrupts")

    def _trigger(self):
        source = self._read
        if not isinstance(source, StateMachine):
            raise NotImplementedError("the stand-in DMA reads from a state machine only")
        if source._program.loops or round(source.hz()) != _MODEL_HZ:
            raise ValueError("the sampler takes %d samples/s, the heads give %d" % (source.hz(), _MODEL_HZ))
        fields = self.unpack_ctrl(self.ctrl)
        if fields["inc_read"] or not fields["inc_write"] or not fields["enable"]:
            raise ValueError("a sampling channel needs inc_read=False, inc_write=True, enable=True")
        self._per, right = source.layout()
        self._bytes = 1 << fields["size"]
        if self._per == 1 and self._bytes == 1:
            self._shift = 24 if right else 0  # a byte read of the FIFO brings its low byte
        elif self._per == 4 and self._bytes == 4 and right:
            self._shift = 0
        else:
            raise NotImplementedError("the stand-in stores bytes of one sample or words of four, first sample low")
        self._ring = 1 << fields["ring_size"] if fields["ring_size"] and fields["ring_sel"] else 0
        if self._ring and self._write & (self._ring - 1):
            raise ValueError("the ring is not aligned to its size: the channel would write outside it")
        self._base = self._write
        self._size = self._ring or self._count * self._bytes
        self._memory = uctypes.bytearray_at(self._base, self._size)
        self._pending = b""
        self._chain = fields["chain_to"]
        self._count = self._again
        _model.start()
        _model.post(_model.OUT_RATE, struct.pack("<I", int(source.hz())))

    def _store(self, level, count):
        level = 0 if self._shift else level
        if self._per == 4:
            data = self._pending + bytes((level,)) * count
            whole = len(data) & ~3
            self._pending = data[whole:]
            self._put(data[:whole])
        else:
            self._put(bytes((level,)) * count)

    def _put(self, data):
        at = self._write - self._base
        room = self._size - at
        self._memory[at : at + min(len(data), room)] = data[:room]
        if len(data) > room:
            self._memory[: len(data) - room] = data[room:]
        at += len(data)
        self._write = self._base + (at % self._ring if self._ring else at)
        self._count -= len(data) // self._bytes

    def _advance(self):
        if not (self._active and isinstance(self._read, StateMachine) and self._read.active()):
            return
        room = self._count * self._bytes
        _model.supply(min(room, _model.MOST), self._store)
        if self._count == 0:
            self._active = False
            if self._chain != self.channel:
                _channels[self._chain].active(1)

    @property
    def read(self):
        return self._read

    @property
    def write(self):
        self._advance()
        return self._write

    @write.setter
    def write(self, place):
        self._write = _address(place)

    @property
    def count(self):
        self._advance()
        return self._count

    @count.setter
    def count(self, number):
        self._count = self._again = number

"""The SM clock, read inside a kernel.

The library that reports clocks rounds towards what the card is allowed to do;
under a power limit that is about 10 % above what it does. So a kernel of a few
instructions counts cycles against the global timer. It is PTX that the driver
assembles, started through the driver: nothing else has to be installed.
"""
import ctypes as c

import torch

NANOSECONDS = 100_000
PTX = """
.version 7.0
.target sm_80
.address_size 64
.visible .entry read_clock(.param .u64 out)
{
  .reg .pred %p;
  .reg .u64 %rd<8>;
  ld.param.u64 %rd0, [out];
  mov.u64 %rd1, %globaltimer;
Edge:
  mov.u64 %rd2, %globaltimer;
  setp.eq.u64 %p, %rd1, %rd2;
  @%p bra Edge;
  mov.u64 %rd3, %clock64;
Wait:
  mov.u64 %rd4, %globaltimer;
  sub.u64 %rd5, %rd4, %rd2;
  setp.lt.u64 %p, %rd5, LIMIT;
  @%p bra Wait;
  mov.u64 %rd6, %clock64;
  sub.u64 %rd6, %rd6, %rd3;
  st.global.u64 [%rd0], %rd6;
  st.global.u64 [%rd0+8], %rd5;
  ret;
}
""".replace("LIMIT", str(NANOSECONDS))


class ClockKernel:
    def __init__(self):
        self.driver = c.CDLL("libcuda.so.1")
        self.out = torch.zeros(2, dtype=torch.int64, device="cuda")
        module, self.function = c.c_void_p(), c.c_void_p()
        self._check("cuModuleLoadData", c.byref(module), PTX.encode() + b"\0")
        self._check("cuModuleGetFunction", c.byref(self.function), module,
                    b"read_clock")

    def _check(self, name, *args):
        code = getattr(self.driver, name)(*args)
        if code != 0:
            raise RuntimeError(f"{name} gave {code}")

    def launch(self, stream):
        """Behind whatever the stream still does, so that the clock is the one
        which that work had."""
        self.pointer = c.c_uint64(self.out.data_ptr())
        args = (c.c_void_p * 1)(c.addressof(self.pointer))
        one, zero = c.c_uint(1), c.c_uint(0)
        self._check("cuLaunchKernel", self.function, one, one, one, one, one,
                    one, zero, c.c_void_p(stream), args, None)

    def ghz(self):
        """Of the last launch, which must have ended; 0 without one."""
        cycles, nanoseconds = self.out.tolist()
        return cycles / nanoseconds if nanoseconds else 0.0

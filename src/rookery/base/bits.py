"""Bit scans that compile to one instruction on every device, and still run interpreted."""

from typing import Any

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.extending import intrinsic

from rookery.base.compiled import compiled

Bits = Any
"""64 squares or flags: np.uint64."""

if numba.config.DISABLE_JIT:

    def lowest(bits: Bits) -> Bits:
        """The place of the lowest bit set; there must be one."""
        return np.uint64((int(bits) & -int(bits)).bit_length() - 1)

    def highest(bits: Bits) -> Bits:
        """The place of the highest bit set; there must be one."""
        return np.uint64(int(bits).bit_length() - 1)

else:

    def _instruction(name: str) -> Any:
        """An LLVM instruction from one uint64 to another; zero is left undefined."""

        @intrinsic
        def scan(context, bits):  # type: ignore[no-untyped-def]
            def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
                return getattr(builder, name)(arguments[0], ir.Constant(ir.IntType(1), 1))

            return numba.types.uint64(numba.types.uint64), code

        return scan

    _trailing, _leading = _instruction("cttz"), _instruction("ctlz")
    _LAST = np.uint64(63)

    @compiled
    def lowest(bits: Bits) -> Bits:
        """The place of the lowest bit set; there must be one."""
        return _trailing(bits)

    @compiled
    def highest(bits: Bits) -> Bits:
        """The place of the highest bit set; there must be one."""
        return _LAST - _leading(bits)

"""Write the network of train.py to a file for other programs.

Not offered: ONNX. JAX writes StableHLO, which programs with XLA run.
"""

import jax
import jax.export
from connect_four import load_run, net

params = load_run()[0]
boards = jax.ShapeDtypeStruct(jax.export.symbolic_shape("N, 6, 7, 2"), bool)
program = jax.export.export(jax.jit(lambda x: net.apply(params, x)))(boards)
with open("connect4.stablehlo", "wb") as file:
    file.write(program.serialize())

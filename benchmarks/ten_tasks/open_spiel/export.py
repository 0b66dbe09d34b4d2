"""Write the network of train.py to a file for other programs.

Not offered: its export_model writes a checkpoint for OpenSpiel. JAX writes StableHLO, which
programs with XLA run.
"""

import jax
import jax.export
from bots import game
from trained import load_model

board = jax.ShapeDtypeStruct(game.observation_tensor_shape(), float)
mask = jax.ShapeDtypeStruct([game.num_distinct_actions()], bool)
program = jax.export.export(jax.jit(load_model().inference))(board, mask)
with open("connect4.stablehlo", "wb") as file:
    file.write(program.serialize())

"""Train a network of one's own: one convolution and two heads.

Not offered: the networks are mlp, conv2d and resnet. This replaces the module of the library in
every process, since the processes of self-play import this file.
"""

import flax.linen as nn
from open_spiel.python.algorithms.alpha_zero import alpha_zero, model_linen

from training import config


class PlainNet(nn.Module):
    model_type: str
    input_shape: tuple
    output_size: int
    nn_width: int
    nn_depth: int

    @nn.compact
    def __call__(self, observations, training):
        x = observations.reshape(self.input_shape)
        x = nn.relu(nn.Conv(32, (3, 3))(x)).reshape(-1)
        return nn.Dense(self.output_size)(x), nn.tanh(nn.Dense(1)(x))[0]


model_linen.AlphaZeroModel = PlainNet
if __name__ == "__main__":
    path = config.path + "-plain"
    alpha_zero.alpha_zero(config.replace(path=path, nn_api_version="linen"))

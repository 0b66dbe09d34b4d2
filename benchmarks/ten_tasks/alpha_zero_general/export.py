"""Write the network of train.py to an ONNX file."""

import torch

from nets import load_net

torch.onnx.export(load_net().nnet.eval(), (torch.zeros(2, 6, 7),), "connect4.onnx")

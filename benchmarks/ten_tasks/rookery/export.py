"""Write the network of train.py to an ONNX file."""

import rookery as rk

print(rk.load_net("runs/connect4").save("connect4.onnx"))

"""Train the run of train.py for one more iteration."""

import rookery as rk

print(rk.open_run("runs/connect4").resume(iterations=3))

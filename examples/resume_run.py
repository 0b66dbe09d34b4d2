"""Stop a run from its progress callback, open it again and train on.

A run is a folder. It can be stopped or killed at any time; `resume` continues from the last
checkpoint. `iterations` counts all iterations of the run, not the additional ones.
"""

import rookery as rk

SETTINGS = {"net.width": 16, "net.depth": 1, "run.strength_every": 0}


def stop_early(progress: rk.Progress) -> None:
    """End the run after two iterations."""
    if progress.iteration >= 2:
        raise rk.Stopped


run = rk.train("tictactoe", iterations=4, settings=SETTINGS, progress=stop_early)
print("stopped:", run)

run = rk.open_run(run.path)
run = run.resume(iterations=4)
print("resumed:", run)

for line in run.stats()[1:]:  # the first iteration only plays
    print(f"iteration {line['iteration']}: loss {line['learning']['losses']['total']:.2f}")

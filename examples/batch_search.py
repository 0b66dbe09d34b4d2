"""Search many positions at once: an array of positions in, arrays of results out.

This is the way to label positions or to build your own training data. G positions give
`actions` [G], `values` [G], `wdl` [G, 3], `policy` [G, A] and `visits` [G, A].
"""

import rookery as rk

net = rk.load_net("connect4")
states = net.game.random_states(64, seed=1)
out = rk.search(states, net, simulations=8)

print(f"{len(out)} positions, policy {out.policy.shape}, wdl {out.wdl.shape}")
print("best columns of the first positions:", out.actions[:8] + 1)
print(f"won for the player to move: {(out.values > 0.9).mean():.0%}")

"""Search 64 positions of random games in one batch."""

import rookery as rk

states = rk.load_game("connect4").random_states(64, seed=1)
print(rk.search(states, rk.load_net("connect4"), simulations=32).actions)

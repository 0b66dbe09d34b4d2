"""Search 64 positions of random games.

Not offered: a search has one position, so they are searched one after the other.
"""

import random

from bots import position
from trained import load_bot


def random_position():
    state = position([])
    for _ in range(random.randrange(30)):
        after = state.child(random.choice(state.legal_actions()))
        if after.is_terminal():
            break
        state = after
    return state


bot = load_bot()
print([bot.step(random_position()) for _ in range(64)])

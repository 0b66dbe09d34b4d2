"""Plot the loss.

Not offered: nothing is recorded, so this records the loss while it trains.
"""

import matplotlib.pyplot as plt
from Coach import Coach

from nets import NNet, game
from training import settings

losses = []


class Recording(NNet.NNetWrapper):
    def loss_pi(self, targets, outputs):
        loss = super().loss_pi(targets, outputs)
        losses.append(loss.item())
        return loss


settings.update(checkpoint="recorded")
Coach(game, Recording(game), settings).learn()
plt.plot(losses)
plt.savefig("loss.png")

"""Train the network of train.py for one more iteration, with the games that were saved."""

from Coach import Coach

from nets import game, load_net
from training import settings

settings.update(numIters=1)
coach = Coach(game, load_net(), settings)
coach.loadTrainExamples()
coach.skipFirstSelfPlay = False
coach.learn()

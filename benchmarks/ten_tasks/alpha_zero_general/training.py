"""The settings of a short training, for the other scripts."""

from utils import dotdict

settings = dotdict(
    numIters=2,
    numEps=8,
    tempThreshold=15,
    updateThreshold=0,
    maxlenOfQueue=200000,
    numMCTSSims=32,
    arenaCompare=2,
    cpuct=1,
    checkpoint="temp",
    load_folder_file=("temp", "checkpoint_1.pth.tar"),
    numItersForTrainExamplesHistory=20,
)

# Load a trained network and get a move. No network is shipped; this one is from train.jl.

include("experiment.jl")

player = AlphaZeroPlayer(session(2), timeout=nothing, mcts_params=mcts)
println(best_move(player, position([4, 4, 5, 3])))

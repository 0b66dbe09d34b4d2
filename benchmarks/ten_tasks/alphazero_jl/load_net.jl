# Load a trained network and get a move. No network is shipped; this one is from train.jl.

include("players.jl")

env = UI.load_env("sessions/connect-four")
player = AlphaZeroPlayer(env, timeout=nothing, mcts_params=mcts)
println(best_move(player, position([4, 4, 5, 3])))

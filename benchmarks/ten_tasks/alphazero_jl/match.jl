# Play ten games of the network of train.jl against random moves.

using AlphaZero

env = UI.load_env("sessions/connect-four")
mcts = MctsParams(num_iters_per_turn=32, dirichlet_noise_ϵ=0.0, dirichlet_noise_α=1.0)
net() = Network.copy(env.bestnn, on_gpu=false, test_mode=true)
simulator = Simulator(net, record_trace) do net
    TwoPlayers(MctsPlayer(env.gspec, net, mcts), RandomPlayer())
end
games = SimParams(num_games=10, num_workers=10, batch_size=10, alternate_colors=true)
traces = simulate(simulator, env.gspec, games, game_simulated=() -> nothing)
rewards, _ = rewards_and_redundancy(traces, gamma=1.0)
println(count(>(0), rewards), " ", count(==(0), rewards), " ", count(<(0), rewards))

# Play ten games of the network of train.jl against random moves.

include("experiment.jl")

net() = Network.copy(session(2).env.bestnn, on_gpu=false, test_mode=true)
simulator = Simulator(net, record_trace) do net
    TwoPlayers(MctsPlayer(gspec, net, mcts), RandomPlayer())
end
games = SimParams(num_games=10, num_workers=10, batch_size=10, alternate_colors=true)
traces = simulate(simulator, gspec, games, game_simulated=() -> nothing)
rewards, _ = rewards_and_redundancy(traces, gamma=1.0)
println(count(>(0), rewards), " ", count(==(0), rewards), " ", count(<(0), rewards))

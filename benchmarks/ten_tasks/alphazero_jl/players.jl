# Connect Four and its search, for the other scripts.

using AlphaZero

gspec = Examples.games["connect-four"]
mcts = MctsParams(num_iters_per_turn=32, dirichlet_noise_ϵ=0.0, dirichlet_noise_α=1.0)

function position(columns)
    game = GI.init(gspec)
    foreach(column -> GI.play!(game, column), columns)
    return game
end

function best_move(player, game)
    actions, policy = think(player, game)
    return actions[argmax(policy)]
end

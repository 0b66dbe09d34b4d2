# Search 64 positions of random games.
#
# Not offered: batches are for self-play and matches, where the library plays whole games; given
# positions are searched one after the other.

include("players.jl")

function random_position()
    game = position([])
    for _ in 1:rand(0:29)
        after = GI.clone(game)
        GI.play!(after, rand(GI.available_actions(after)))
        GI.game_terminated(after) && break
        game = after
    end
    return game
end

env = UI.load_env("sessions/connect-four")
player = AlphaZeroPlayer(env, timeout=nothing, mcts_params=mcts)
println([best_move(player, random_position()) for _ in 1:64])

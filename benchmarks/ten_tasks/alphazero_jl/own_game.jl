# Search Nim with 200 simulations and without a network.
#
# Nim: take one, two or three of seven matches; whoever takes the last one wins.

using AlphaZero

struct Nim <: GI.AbstractGameSpec end

mutable struct NimEnv <: GI.AbstractGameEnv
    matches::Int
    white::Bool
end

GI.init(::Nim) = NimEnv(7, true)
GI.spec(::NimEnv) = Nim()
GI.two_players(::Nim) = true
GI.actions(::Nim) = [1, 2, 3]
GI.actions_mask(game::NimEnv) = [1, 2, 3] .<= game.matches
GI.current_state(game::NimEnv) = (matches=game.matches, white=game.white)
GI.white_playing(game::NimEnv) = game.white
GI.game_terminated(game::NimEnv) = game.matches == 0
GI.white_reward(game::NimEnv) = game.matches > 0 ? 0.0 : game.white ? -1.0 : 1.0
GI.vectorize_state(::Nim, state) = reshape(Float32.(1:7 .<= state.matches), 7, 1, 1)

function GI.set_state!(game::NimEnv, state)
    game.matches, game.white = state
end

function GI.play!(game::NimEnv, action)
    game.matches -= action
    game.white = !game.white
end

mcts = MctsParams(num_iters_per_turn=200, dirichlet_noise_ϵ=0.0, dirichlet_noise_α=1.0)
actions, policy = think(MctsPlayer(Nim(), MCTS.RandomOracle(Nim()), mcts), GI.init(Nim()))
println(actions[argmax(policy)])

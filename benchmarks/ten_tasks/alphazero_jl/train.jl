# Train Connect Four for two iterations.

include("experiment.jl")

resume!(session(2))

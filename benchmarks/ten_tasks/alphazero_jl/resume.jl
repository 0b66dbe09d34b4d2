# Train the session of train.jl for one more iteration.

include("experiment.jl")

trained = session(3)
trained.env.params = params(3)
resume!(trained)

# Plot the loss of the session of train.jl. Training also does this after every iteration.

include("experiment.jl")

trained = session(2)
UI.plot_training(trained.env.params, trained.report.iterations, "plots")

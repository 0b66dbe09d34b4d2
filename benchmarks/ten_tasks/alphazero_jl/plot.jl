# Plot the loss of the session of train.jl. Training also does this after every iteration.

using AlphaZero

env = UI.load_env("sessions/connect-four")
report = UI.load_session_report("sessions/connect-four", env.itc)
UI.plot_training(env.params, report.iterations, "plots")

# Write the network of train.jl to a file for other programs.
#
# Not offered: there is no ONNX. This writes the weights as arrays of NumPy (the package NPZ), from
# which another program can build the network again.

using AlphaZero, Flux, NPZ

net = UI.load_env("sessions/connect-four").bestnn
weights = Flux.params(net.common, net.vhead, net.phead)
npzwrite("connect4.npz", Dict("weight$i" => Array(weight) for (i, weight) in enumerate(weights)))

# Train a network of one's own: one convolution and two heads.

include("experiment.jl")

using Flux

Base.@kwdef struct PlainNetHP
    filters::Int
end

mutable struct PlainNet <: NetLib.TwoHeadNetwork
    gspec
    hyper
    common
    vhead
    phead
end

function PlainNet(gspec, hyper)
    width, height, planes = GI.state_dim(gspec)
    size = hyper.filters * width * height
    common = Chain(Conv((3, 3), planes => hyper.filters, relu, pad=1), Flux.flatten)
    phead = Chain(Dense(size, GI.num_actions(gspec)), softmax)
    return PlainNet(gspec, hyper, common, Chain(Dense(size, 1, tanh)), phead)
end

Network.HyperParams(::Type{PlainNet}) = PlainNetHP

function Base.copy(net::PlainNet)
    return PlainNet(net.gspec, net.hyper, deepcopy.((net.common, net.vhead, net.phead))...)
end

resume!(Session(Experiment("plain", gspec, params(2), PlainNet, PlainNetHP(32), Benchmark.Duel[])))

# A short training of Connect Four, for the other scripts.

using AlphaZero

gspec = Examples.games["connect-four"]
mcts = MctsParams(num_iters_per_turn=32, dirichlet_noise_ϵ=0.25, dirichlet_noise_α=1.0)
sim = SimParams(num_games=8, num_workers=8, batch_size=8)
netparams = NetLib.ResNetHP(num_filters=32, num_blocks=2, conv_kernel_size=(3, 3))

learning = LearningParams(
    samples_weighing_policy=LOG_WEIGHT,
    optimiser=Adam(lr=1e-3),
    l2_regularization=1e-4,
    batch_size=64,
    loss_computation_batch_size=64,
    min_checkpoints_per_epoch=1,
    max_batches_per_checkpoint=100,
    num_checkpoints=1)

params(num_iters) = Params(
    self_play=SelfPlayParams(mcts=mcts, sim=sim),
    learning=learning,
    arena=nothing,
    num_iters=num_iters,
    mem_buffer_size=PLSchedule(10_000))

session(num_iters) = Session(Experiment(
    "connect-four", gspec, params(num_iters), NetLib.ResNet, netparams, Benchmark.Duel[]))

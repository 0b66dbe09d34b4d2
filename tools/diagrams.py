"""Diagrams of the pages that explain how Rookery works. They need no run."""

from collections.abc import Sequence

from drawing import BLUE, GREY, INK, LINE, ORANGE, PALE, PINK, STRONG, TEAL, Drawing, Point

from rookery.search.gumbel import considered_visits

TREE: dict[str, tuple[Point, str]] = {
    "root": ((0, 0), ""),
    "a": ((-38, 46), "root"),
    "b": ((0, 46), "root"),
    "c": ((38, 46), "root"),
    "d": ((-66, 92), "a"),
    "e": ((-33, 92), "a"),
    "f": ((38, 92), "c"),
}
"""Nodes of a small tree: place and parent."""
PATHS = (("root", "a", "e"), ("root", "c", "f"), ("root", "b"))
LEAF_STEPS = ((-12, 138), (38, 138), (0, 126))
"""The paths of three simulations, and the places of their new leaves."""


def search_wave() -> Drawing:
    """Return one wave: all trees descend, one call of the network, all trees back up."""
    picture = Drawing(760, 640, "One wave: all trees descend, the network is called once, all grow")
    rows = (110, 302, 494)
    for x, heading in ((130, "1  Descend"), (380, "2  Evaluate"), (630, "3  Expand, back up")):
        picture.text((x, 32), heading, size=16, bold=True)
    for number, (y, path, leaf) in enumerate(zip(rows, PATHS, LEAF_STEPS, strict=True)):
        picture.text((24, y - 34), f"game {number + 1}", anchor="start", fill=GREY)
        _draw_tree(picture, (130, y - 30), path, leaf, is_grown=False)
        _draw_tree(picture, (630, y - 30), path, leaf, is_grown=True)
        leaf_y = y - 30 + leaf[1]
        begin = 130 + leaf[0] + 14
        picture.arrow((begin, leaf_y), (282, leaf_y), (312, 258 + 30 * number))
        picture.arrow((470, 312), (500, 312), (630 - 84, y + 10))
    picture.box((312, 240), (136, 110), "planes of\nall leaves:\none batch", fill=BLUE)
    picture.box((312, 382), (136, 62), "network,\none call", fill=ORANGE, bold=True)
    picture.arrow((380, 350), (380, 382))
    picture.line([(448, 413), (470, 413), (470, 312)], colour=GREY, width=1.8)
    picture.text((380, 480), "logits [G, A] and\nwin-draw-loss [G, 3]", size=13, fill=GREY)
    return picture


def _draw_tree(
    picture: Drawing, top: Point, path: Sequence[str], leaf: Point, *, is_grown: bool
) -> None:
    """Draw a tree with the path of a simulation and its leaf, before or after the network."""
    places = {name: (top[0] + x, top[1] + y) for name, ((x, y), _) in TREE.items()}
    end = (top[0] + leaf[0], top[1] + leaf[1])
    strong = STRONG[TEAL]
    for name, (_, parent) in TREE.items():
        if parent:
            is_taken = name in path
            ends = [places[parent], places[name]]
            picture.line(ends, colour=strong if is_taken else LINE, width=3 if is_taken else 1.5)
    picture.line([places[path[-1]], end], colour=strong, width=3)
    for name, place in places.items():
        picture.circle(place, 10, fill=TEAL if name in path else PALE)
    picture.circle(end, 11, fill=ORANGE, is_dashed=not is_grown)
    if is_grown:
        for step in (-16, 0, 16):
            picture.line([(end[0] + step / 3, end[1] + 11), (end[0] + step, end[1] + 24)])
        steps = [end, *(places[name] for name in reversed(path))]
        for number, (x, y) in enumerate(steps):
            sign = "+v" if number % 2 == 0 else "-v"
            picture.text((x + 15, y - 9), sign, size=12, fill=STRONG[ORANGE], anchor="start")


def search_halving() -> Drawing:
    """Return how sequential halving spends 32 simulations on eight moves."""
    picture = Drawing(760, 330, "Sequential halving: 32 simulations on eight moves")
    sequence = considered_visits(8, 32)
    visits = [0] * 8
    for wanted in sequence:
        visits[visits.index(wanted)] += 1
    colours, base, unit = {8: BLUE, 4: TEAL, 2: ORANGE}, 262, 17
    for move, count in enumerate(visits):
        x = 46 + 58 * move
        for level in range(count):
            survivors = sum(each > level for each in visits)
            corner = (x, base - unit * (level + 1))
            picture.box(corner, (42, unit - 3), fill=colours[survivors])
        picture.text((x + 21, base - unit * count - 12), str(count), bold=True)
        picture.text((x + 21, base + 16), f"move {move + 1}", size=12, fill=GREY)
    picture.line([(36, base), (504, base)])
    picture.text((270, base + 44), "moves by their score, the best first", size=13, fill=GREY)
    picture.text((270, 24), "visits after 32 simulations", size=13, fill=GREY)
    legend = ((8, "first all eight moves"), (4, "then the better four"), (2, "then the better two"))
    for row, (count, meaning) in enumerate(legend):
        picture.box((560, 96 + 40 * row), (18, 18), fill=colours[count])
        picture.text((588, 105 + 40 * row), meaning, size=13, anchor="start")
    return picture


def gpu_waves() -> Drawing:
    """Return what six games do in the waves of two graphs, with four simulations per move."""
    picture = Drawing(760, 372, "Six games during sixteen waves on a GPU")
    left, top, cell, waves = 92, 88, 40, 16
    offsets, ended = (1, 2, 3, 4, 0, 3), {(4, 5): 8, (1, 12): 16}
    """The first wave that evaluates a root, by game; a game ends before a wave, until the next."""
    for graph, x in ((1, left), (2, left + 8 * cell)):
        picture.box((x + 2, 44), (8 * cell - 4, 26), fill=PALE)
        picture.text((x + 4 * cell, 57), f"graph {graph}: 8 waves, replayed by the host", size=12)
    for game, offset in enumerate(offsets):
        y = top + game * 36
        picture.text((left - 12, y + 15), f"game {game + 1}", size=13, fill=GREY, anchor="end")
        stop = next((when for who, when in ended if who == game), waves)
        renewed = ended.get((game, stop), waves)
        for wave in range(waves):
            x = left + wave * cell
            if stop <= wave < renewed:
                picture.box((x + 2, y), (cell - 4, 30), "-", fill=PALE, is_dashed=True)
                continue
            phase = (wave - renewed if wave >= renewed else wave - offset) % 5
            is_root = phase == 0
            picture.box(
                (x + 2, y),
                (cell - 4, 30),
                "R" if is_root else str(phase),
                fill=(ORANGE if is_root else TEAL),
            )
    y = top + 6 * 36 + 24
    legend = (
        (ORANGE, "makes its move, evaluates the next root", left - 40),
        (TEAL, "simulation", left + 270),
        (PALE, "ended, waits for the next graph", left + 390),
    )
    for fill, meaning, x in legend:
        picture.box((x, y - 9), (18, 18), fill=fill, is_dashed=fill == PALE)
        picture.text((x + 26, y), meaning, size=13, anchor="start")
    picture.text((380, 24), "one column is one wave: one batch with one row per game", size=14)
    return picture


def gpu_iterations() -> Drawing:
    """Return what host and GPU do at the same time."""
    picture = Drawing(760, 310, "Host and GPU during three iterations")
    lanes = (("host", 60), ("copies", 142), ("GPU", 224))
    for name, y in lanes:
        picture.text((16, y + 22), name, anchor="start", bold=True)
        picture.line([(80, y + 22), (744, y + 22)], colour="#d5dcdf")
    for number in range(3):
        x = 84 + 220 * number
        later = "k" if number == 0 else f"k+{number}"
        before = "k-1" if number == 0 else "k" if number == 1 else "k+1"
        picture.box((x, 60), (46, 44), f"start\n{later}", fill=BLUE)
        picture.box((x + 96, 60), (104, 44), f"store, record\n{before}", fill=BLUE)
        picture.box((x + 4, 224), (126, 44), f"self-play {later}\nwaves", fill=TEAL)
        picture.box((x + 134, 224), (82, 44), f"updates\nfrom {before}", fill=ORANGE)
        picture.box((x + 48, 142), (74, 44), f"games of\n{before}", fill=PINK)
        picture.arrow((x + 23, 104), (x + 23, 224))
        picture.arrow((x + 114, 142), (x + 114, 104))
        picture.arrow((x + 172, 104), (x + 172, 224))
    picture.text(
        (390, 26), "three iterations, from left to right; widths are not to scale", size=13
    )
    picture.text(
        (390, 290),
        "arrows: the host starts work on the GPU, and reads the games that it copies",
        size=13,
        fill=GREY,
    )
    return picture


def learning_loop() -> Drawing:
    """Return the loop of self-play and learning."""
    picture = Drawing(760, 390, "The training loop: self-play, replay window, learner, weights")
    picture.box(
        (40, 60), (190, 96), "self-play\nmany games at once,\none search per move", fill=TEAL
    )
    picture.box((530, 60), (190, 96), "replay window\nthe newest rows\nof all games", fill=BLUE)
    picture.box((530, 254), (190, 96), "learner\nAdamW on batches\nof random rows", fill=ORANGE)
    picture.box(
        (40, 254), (190, 96), "network that plays\nmoving average\nof the weights", fill=PINK
    )
    picture.arrow((230, 108), (530, 108))
    picture.text((380, 82), "rows of finished games\nstate, policy, value, result", size=13)
    picture.arrow((625, 156), (625, 254))
    picture.text((520, 205), "batches: planes,\ntargets, symmetries", size=13)
    picture.arrow((530, 302), (230, 302))
    picture.text((380, 284), "new weights, once per iteration", size=13)
    picture.arrow((135, 254), (135, 156))
    picture.text((226, 205), "priors and values\nfor the search", size=13)
    picture.text((625, 34), "shards on disk keep a copy", size=13, fill=GREY)
    picture.text((135, 370), "now and then: a strength test", size=13, fill=GREY)
    return picture


def workers() -> Drawing:
    """Return the processes of a run with actors and trainers."""
    picture = Drawing(760, 420, "Processes of a run: coordinator, actors, trainers")
    for number in range(3):
        y = 60 + 84 * number
        picture.box((30, y), (160, 62), f"actor {number + 1}\nself-play", fill=TEAL)
        picture.arrow((190, y + 22), (290, 150 + 16 * number))
        picture.arrow((290, 172 + 16 * number), (190, y + 44), colour=STRONG[PINK])
    picture.box(
        (290, 120),
        (180, 130),
        "coordinator\nthe training loop,\nreplay window,\nstatistics",
        fill=BLUE,
    )
    for number in range(2):
        y = 88 + 124 * number
        picture.box((570, y), (160, 72), f"trainer {number + 1}\nits rows,\ngradients", fill=ORANGE)
        picture.arrow((470, 160 + 40 * number), (570, y + 26))
        picture.arrow((570, y + 50), (470, 180 + 40 * number), colour=STRONG[PINK])
    picture.arrow((650, 160), (650, 212))
    picture.arrow((650, 212), (650, 160))
    picture.text((640, 186), "gradients", size=12, anchor="end")
    picture.box((290, 316), (180, 62), "run folder\nshards, weights,\ncheckpoint", fill=PALE)
    picture.arrow((380, 250), (380, 316))
    picture.text((110, 36), "one per core or GPU", size=13, fill=GREY)
    picture.text((650, 60), "one per core or GPU", size=13, fill=GREY)
    picture.line([(540, 340), (576, 340)], colour=GREY, width=2)
    picture.text((586, 340), "games, orders, rows", size=13, anchor="start")
    picture.line([(540, 366), (576, 366)], colour=STRONG[PINK], width=2)
    picture.text((586, 366), "weights", size=13, anchor="start", fill=INK)
    return picture


DIAGRAMS = {
    "search-wave": search_wave,
    "search-halving": search_halving,
    "gpu-waves": gpu_waves,
    "gpu-iterations": gpu_iterations,
    "learning-loop": learning_loop,
    "workers": workers,
}
"""The functions that draw them, by the name of the file."""

"""benchmarks/spiking_gpu.py runs; here on the CPU, with a tiny network."""

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_a_table_of_inference_and_learning_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    sizes = [
        "--game",
        "tictactoe",
        "--width",
        "4",
        "--depth",
        "1",
        "--steps",
        "2",
        "--batches",
        "4,8",
        "--seconds",
        "0.001",
    ]
    options = ["--device", "cpu", "--backends", "float32", "--precision", "float32"]
    benchmark = importlib.import_module("spiking_gpu")
    monkeypatch.setattr(benchmark, "TRIALS", 1)
    benchmark.main([*sizes, *options])
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in capsys.readouterr().out.splitlines()
        if line.startswith("| ")
    ]
    assert ["boards/s of inference", "by", "batch 4", "batch 8"] in rows
    spiking = "spiking 4 x 1, 2 steps"
    measured = [row[0] for row in rows if "(" in row[-1]]
    assert measured == ["resnet 4 x 1", spiking, "resnet 4 x 1", spiking, spiking]

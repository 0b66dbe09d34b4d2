// Which charts there are, and how the curves of runs become their series.

import { percent, shortNumber } from "./figures.js";

/** Charts of one run by group; each line is [column, label]. */
export const CHARTS = [
  { group: "Strength and losses", title: "Losses", lines: [["loss", "total"], ["policy_loss", "policy"], ["value_loss", "value"]] },
  { group: "Self-play", title: "Policy entropy", lines: [["policy_entropy", "entropy of the search's policy"]], hint: "In nats, mean over the replay window." },
  { group: "Learning", title: "Policy KL", lines: [["policy_kl", "divergence from the search"]], hint: "How far the network's policy is from the search's." },
  { group: "Learning", title: "Accuracy", lines: [["policy_accuracy", "policy"], ["value_accuracy", "value"]], format: percent },
  { group: "Self-play", title: "Duplicate games", lines: [["duplicate_games", "games"], ["duplicate_rows", "rows in the window"]], format: percent },
  { group: "Self-play", title: "Results", lines: [["first_wins", "first player wins"], ["draws", "draws"]], format: percent },
  { group: "Self-play", title: "Length of games", lines: [["mean_length", "plies"]] },
  { group: "Self-play", title: "Replay age", lines: [["replay_age", "mean age in iterations"]] },
  { group: "Self-play", title: "Replay window", lines: [["window_rows", "rows"]] },
  { group: "Speed", title: "Positions per second", lines: [["positions_per_second", "positions/s"]] },
  { group: "Speed", title: "Simulations per second", lines: [["simulations_per_second", "simulations/s"]] },
  { group: "Speed", title: "Batch size", lines: [["mean_batch", "rows per batch of self-play"]] },
  { group: "Speed", title: "Learning speed", lines: [["rows_per_second", "rows/s"]] },
  { group: "Learning", title: "Learning rate", lines: [["learning_rate", "rate"]] },
  { group: "Learning", title: "Gradient norm", lines: [["gradient_norm", "norm"]] },
  { group: "Speed", title: "GPU load", lines: [["device_busy", "load"]], devices: "busy ", format: percent },
  { group: "Speed", title: "GPU memory", lines: [["device_mb", "MB"]], devices: "memory " },
  { group: "Speed", title: "Waiting", lines: [["learner_waited", "learner"], ["games_waited", "games"]], format: percent },
  { group: "Speed", title: "Staleness", lines: [["staleness", "iterations"]] },
];

export const MEASURED = [
  { group: "Strength and losses", title: "Strength", part: "strength", value: "errors", format: (value) => `${shortNumber(value)} %` },
  { group: "Strength and losses", title: "Elo", part: "elo", value: "elo", format: shortNumber },
];

export const GROUPS = ["Strength and losses", "Learning", "Self-play", "Speed"];

/** Return the place of each row on the x axis: iterations or minutes. */
export function places(columns, axis) {
  if (axis === "iteration") return columns.iteration;
  return (columns.seconds ?? columns.iteration).map((value) => value / 60);
}

/** Return the series of a chart for one run. */
export function seriesOf(chart, columns, axis) {
  const x = places(columns, axis);
  const several = chart.devices ? Object.keys(columns).filter((name) => name.startsWith(chart.devices)) : [];
  const lines = several.length > 1 ? several.map((name) => [name, name.slice(chart.devices.length)]) : chart.lines;
  return lines
    .filter(([name]) => columns[name]?.some((value) => value !== null))
    .map(([name, label], at) => ({ label, color: `--chart-${(at % 8) + 1}`, x, y: columns[name] }));
}

/** Return the series of measurements of one run, [] without any. */
export function measuredSeries({ part, value }, measurements, columns, axis, label, color = "--chart-1") {
  const found = measurements[part];
  if (!found?.iteration.length) return [];
  const x = axis === "iteration" ? found.iteration : minutesOf(found, columns);
  return [{ label, color, x, y: found[value], low: found.low, high: found.high }];
}

/** Return minutes of measurements; those without a time get that of their iteration. */
function minutesOf(found, columns) {
  if (found.seconds) return found.seconds.map((seconds) => seconds / 60);
  const { iteration: known, seconds } = columns;
  return found.iteration.map((iteration) => {
    const row = known.findIndex((each) => each >= iteration);
    return (seconds?.[row < 0 ? known.length - 1 : row] ?? 0) / 60;
  });
}

/** Append the rows of `news` to `columns`, in place. */
export function append(columns, news, rows) {
  const before = columns.iteration?.length ?? 0;
  for (const name of new Set([...Object.keys(columns), ...Object.keys(news)])) {
    columns[name] ??= new Array(before).fill(null);
    columns[name].push(...(news[name] ?? new Array(rows).fill(null)));
  }
}

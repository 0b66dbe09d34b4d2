// Numbers, times and states of runs as short texts.

import { h, s } from "./dom.js";

/** Return a number in about three digits: 0.0123, 45.6, 1,230, 4.5 M. */
export function shortNumber(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e9) return `${trim(value / 1e9)} G`;
  if (size >= 1e6) return `${trim(value / 1e6)} M`;
  if (size >= 1e4) return `${trim(value / 1e3)} k`;
  if (size >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString("en");
  if (size >= 0.001) return trim(value);
  return size === 0 ? "0" : value.toExponential(1);
}

/** Return a count in full: 12,345. */
export function wholeNumber(value) {
  return value.toLocaleString("en", { maximumFractionDigits: 0 });
}

function trim(value) {
  return String(Number(value.toPrecision(3)));
}

/** Return a share from 0 to 1 as a percentage. */
export function percent(share) {
  return share === null || share === undefined ? "–" : `${trim(100 * share)} %`;
}

/** Return minutes as text: 40 s, 12 min, 3 h 20 min, 2 d 4 h. */
export function duration(minutes) {
  if (minutes < 1) return `${Math.round(60 * minutes)} s`;
  if (minutes < 120) return `${trim(minutes)} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${Math.round(minutes % 60)} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Return how long ago a time in seconds since the epoch is. */
export function ago(seconds) {
  if (!seconds) return "";
  const minutes = Math.max(0, Date.now() / 1000 - seconds) / 60;
  return minutes < 0.1 ? "just now" : `${duration(minutes < 1 ? minutes : Math.round(minutes))} ago`;
}

const LOOKS = { running: "good", starting: "warn", stopped: "warn", damaged: "bad" };

/** Make the badge of a state. */
export function stateBadge(state) {
  return h("span", { class: `badge ${LOOKS[state] ?? ""} state-${state}` }, state);
}

/** Make a small curve without axes; `label` says what it shows. */
export function sparkline(values, label, { width = 120, height = 32 } = {}) {
  const known = values.filter((value) => value !== null);
  const low = Math.min(...known);
  const span = Math.max(...known) - low || 1;
  const points = known.map((value, at) => {
    const x = 2 + (at / Math.max(known.length - 1, 1)) * (width - 4);
    return `${x.toFixed(1)},${(height - 3 - ((value - low) / span) * (height - 6)).toFixed(1)}`;
  });
  const attributes = { class: "spark", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label };
  const drawn = known.length > 1 ? [s("polyline", { points: points.join(" ") })] : [];
  return s("svg", { ...attributes, preserveAspectRatio: "none" }, drawn);
}

// Downloads of charts: a picture with title and legend, or the numbers.

import { h } from "./dom.js";
import { tokenColor } from "./theme.js";

const MARGIN = 14;
const LINE = 20;

/** Save text or a Blob as a file. */
export function saveFile(name, content, type = "text/csv") {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Return rows of values as CSV. */
export function toCsv(names, rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [names, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

/** Save the numbers of a chart: one row per point. */
export function saveCsv(chart) {
  const rows = chart.series.flatMap(({ label, x, y, low, high }) =>
    x.map((value, row) => [label, value, y[row], low?.[row], high?.[row]]),
  );
  const known = rows.filter((row) => row[2] !== null);
  saveFile(`${fileName(chart.title)}.csv`, toCsv(["series", chart.xLabel, "value", "low", "high"], known));
}

/** Save a chart as a picture in the colours of the present theme. */
export function savePng(chart) {
  const source = chart.canvas;
  if (!source) return;
  const scale = devicePixelRatio;
  const head = (LINE * (1 + chart.series.length) + MARGIN) * scale;
  const canvas = h("canvas", { width: source.width + 2 * MARGIN * scale, height: source.height + head + MARGIN * scale });
  const ctx = canvas.getContext("2d");
  ctx.fillStyle = tokenColor("--surface");
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.drawImage(source, MARGIN * scale, head);
  ctx.scale(scale, scale);
  ctx.fillStyle = tokenColor("--text");
  ctx.font = "600 15px system-ui, sans-serif";
  ctx.fillText(chart.title, MARGIN, MARGIN + 10);
  ctx.font = "13px system-ui, sans-serif";
  chart.series.forEach(({ label, color }, row) => {
    const y = MARGIN + 10 + LINE * (row + 1);
    ctx.fillStyle = tokenColor(color);
    ctx.fillRect(MARGIN, y - 9, 10, 10);
    ctx.fillStyle = tokenColor("--text");
    ctx.fillText(label, MARGIN + 16, y);
  });
  canvas.toBlob((blob) => saveFile(`${fileName(chart.title)}.png`, blob, "image/png"));
}

function fileName(title) {
  return title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
}

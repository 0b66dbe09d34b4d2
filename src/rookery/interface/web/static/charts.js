// A chart of one or several curves, drawn by uPlot: error bars, smoothing, logarithmic scale, values
// under the pointer, and downloads.
//
// A series is { label, color, x, y, low, high }: `color` is a design token such as "--chart-1", `low`
// and `high` are the ends of error bars. All charts of a page follow one pointer. A chart is drawn
// when it comes near the part of the page that can be seen.

import uPlot from "./vendor/uPlot.esm.min.js";
import { h, iconButton } from "./dom.js";
import { saveCsv, savePng } from "./chart_files.js";
import { tokenColor } from "./theme.js";
import { shortNumber } from "./figures.js";

const HEIGHT = 210;
const GAP_OF_TICKS = 42;
const CAP = 3;
const SAME = 1e-6;
const MOST_POINTS = 30;
const NEAR = "400px";
const WHOLE_STEPS = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power));

export class Chart {
  #plot = null;
  #series = [];
  #isNear = false;
  #isStale = false;
  #place = h("div", { class: "chart-place" });
  #legend = h("ul", { class: "chart-legend" });
  #options;

  /** `format` turns a value into text; `options` are those of `change`. */
  constructor(title, { format = shortNumber, hint = "", ...options } = {}) {
    this.title = title;
    this.format = format;
    this.#options = { log: false, smoothing: 0, xLabel: "iteration", ...options };
    this.element = h(
      "figure",
      { class: "card chart", "aria-label": title },
      h(
        "header",
        {},
        h("h3", { title: hint || null }, title),
        h(
          "div",
          { class: "toolbar" },
          iconButton(`Save ${title} as a picture`, "save", () => savePng(this)),
          h(
            "button",
            { type: "button", class: "button quiet small", onclick: () => saveCsv(this) },
            "CSV",
            h("span", { class: "visually-hidden" }, ` of ${title}`),
          ),
        ),
      ),
      this.#legend,
      this.#place,
    );
    this.#watchSize();
    this.#watchSight();
  }

  /** Show these series. */
  update(series) {
    const isSame = this.#plot && signature(series) === signature(this.#series);
    this.#series = series;
    this.element.hidden = series.length === 0;
    if (!this.element.isConnected || series.length === 0) return;
    if (isSame && this.#isNear && !this.#isStale) this.#plot.setData(this.#data());
    else this.#draw();
    this.#tell(null);
  }

  /** Change `log`, `smoothing` or `xLabel`. */
  change(options) {
    this.#options = { ...this.#options, ...options };
    this.redraw();
  }

  /** Draw again, for a new theme or when the chart was added to the page. */
  redraw() {
    if (this.element.isConnected && this.#series.length) {
      this.#draw();
      this.#tell(null);
    }
  }

  end() {
    this.#sizes.disconnect();
    this.#sight.disconnect();
    this.#plot?.destroy();
    this.#plot = null;
  }

  get series() {
    return this.#series;
  }

  get xLabel() {
    return this.#options.xLabel;
  }

  get canvas() {
    return this.#plot?.ctx.canvas;
  }

  #sizes = null;
  #sight = null;

  #watchSize() {
    this.#sizes = new ResizeObserver(() => {
      const width = this.#place.clientWidth;
      if (width && (!this.#plot || this.#isStale)) this.redraw();
      else if (width && width !== this.#plot.width) this.#plot.setSize({ width, height: HEIGHT });
    });
    this.#sizes.observe(this.#place);
  }

  #watchSight() {
    this.#sight = new IntersectionObserver(
      ([entry]) => {
        this.#isNear = entry.isIntersecting;
        if (this.#isNear && (this.#isStale || !this.#plot)) this.redraw();
      },
      { rootMargin: NEAR },
    );
    this.#sight.observe(this.#place);
  }

  #data() {
    const { log, smoothing } = this.#options;
    const tables = this.#series.map(({ x, y }) => {
      const shown = log ? y.map((value) => (value > 0 ? value : null)) : y;
      return smoothing ? [x, shown, smoothed(shown, smoothing)] : [x, shown];
    });
    return tables.length === 1 ? tables[0] : uPlot.join(tables);
  }

  #draw() {
    const width = this.#place.clientWidth;
    this.#isStale = !this.#isNear || !width;
    if (this.#isStale) return;
    this.#plot?.destroy();
    this.#plot = new uPlot(this.#plotOptions(width), this.#data(), this.#place);
    this.#plot.root.setAttribute("aria-hidden", "true");
  }

  #plotOptions(width) {
    const { log, smoothing } = this.#options;
    const lines = this.#series.flatMap(({ label, color, y }) => {
      const stroke = tokenColor(color);
      const line = { label, stroke, width: 1.6, spanGaps: true, points: pointsOf(y) };
      return smoothing ? [{ ...line, width: 1, alpha: 0.28 }, { ...line, points: { show: false } }] : [line];
    });
    return {
      width,
      height: HEIGHT,
      legend: { show: false },
      padding: [10, widthOfHalf(this.#series), 0, 0],
      scales: { x: { time: false }, y: { distr: log ? 3 : 1, range: this.#range() } },
      cursor: {
        y: false,
        drag: { x: true, y: false },
        points: { size: 7 },
        sync: { key: "run", setSeries: false },
      },
      series: [{}, ...lines],
      axes: [this.#xAxis(), axis({ size: 56, values: (_, at) => at.map((value) => (value === null ? "" : this.format(value))) })],
      hooks: { draw: [(plot) => this.#drawBars(plot)], setCursor: [(plot) => this.#tell(plot.cursor.idx)] },
    };
  }

  #xAxis() {
    const values = (_, at) => at.map(placeText);
    return axis({ space: 60, size: 30, values, ...(this.xLabel === "iteration" ? { incrs: WHOLE_STEPS } : {}) });
  }

  #range() {
    if (this.#options.log) return undefined;
    return (plot, low, high) => {
      const ends = this.#series.flatMap((each) => [...(each.low ?? []), ...(each.high ?? [])]);
      const known = ends.filter((value) => value !== null);
      const bottom = Math.min(low ?? Infinity, ...known);
      const top = Math.max(high ?? -Infinity, ...known);
      if (!Number.isFinite(bottom) || !Number.isFinite(top)) return [0, 1];
      const size = Math.max(Math.abs(bottom), Math.abs(top));
      if (top - bottom <= size * SAME) return size ? [bottom - size / 10, top + size / 10] : [0, 1];
      const room = (top - bottom) * 0.06;
      return [bottom >= 0 && bottom - room < 0 ? 0 : bottom - room, top + room];
    };
  }

  #drawBars(plot) {
    const { ctx } = plot;
    const scale = devicePixelRatio;
    ctx.save();
    ctx.lineWidth = 1.2 * scale;
    ctx.globalAlpha = 0.55;
    for (const { x, low, high, color } of this.#series) {
      if (!low) continue;
      ctx.strokeStyle = tokenColor(color);
      ctx.beginPath();
      x.forEach((value, row) => {
        if (low[row] === null || high[row] === null || low[row] === high[row]) return;
        const at = Math.round(plot.valToPos(value, "x", true));
        if (at < plot.bbox.left || at > plot.bbox.left + plot.bbox.width) return;
        const ends = [low[row], high[row]].map((end) => plot.valToPos(end, "y", true));
        ctx.moveTo(at, ends[0]);
        ctx.lineTo(at, ends[1]);
        for (const end of ends) {
          ctx.moveTo(at - CAP * scale, end);
          ctx.lineTo(at + CAP * scale, end);
        }
      });
      ctx.stroke();
    }
    ctx.restore();
  }

  /** Write the values at a row of the plot, or the newest ones. */
  #tell(index) {
    const place = index === null || index === undefined ? null : this.#plot?.data[0][index];
    const items = this.#series.map((each) => {
      const row = place === null ? lastKnown(each.y) : nearest(each.x, place, each.y);
      const value = row < 0 ? "–" : this.format(each.y[row]);
      const bar = row >= 0 && each.low && each.low[row] !== each.high[row];
      const range = bar ? ` (${this.format(each.low[row])} to ${this.format(each.high[row])})` : "";
      return h(
        "li",
        {},
        h("span", { class: `swatch swatch${each.color}` }),
        h("span", { class: "chart-name" }, each.label),
        h("b", {}, value),
        range,
      );
    });
    const where = place === null ? null : h("li", { class: "muted" }, `${this.xLabel} ${shortNumber(place)}`);
    this.#legend.replaceChildren(...items, ...(where ? [where] : []));
  }
}

function signature(series) {
  return JSON.stringify(series.map(({ label, color, y }) => [label, color, pointsOf(y)]));
}

function pointsOf(y) {
  const known = y.filter((value) => value !== null).length;
  return { show: known <= MOST_POINTS, size: known <= 3 ? 8 : 5 };
}

/** Return the text of a tick of the x axis. */
function placeText(value) {
  if (value === null) return "";
  return Math.abs(value) >= 1e6 ? shortNumber(value) : value.toLocaleString("en");
}

/** Return the pixels that the last text of the x axis needs to the right of its tick. */
function widthOfHalf(series) {
  const last = Math.max(...series.map(({ x }) => x.at(-1) ?? 0));
  return Math.max(24, 5 * placeText(Math.round(last)).length + 6);
}

function axis(options) {
  const muted = tokenColor("--muted");
  const line = { stroke: tokenColor("--line"), width: 1 };
  return {
    stroke: muted,
    font: "12px system-ui, sans-serif",
    space: GAP_OF_TICKS,
    grid: line,
    ticks: { ...line, size: 4 },
    ...options,
  };
}

/** Return an exponential moving average; `weight` from 0 to 1 is that of the past. */
export function smoothed(y, weight) {
  let mean = 0;
  let mass = 0;
  return y.map((value) => {
    if (value === null) return null;
    mean = weight * mean + (1 - weight) * value;
    mass = weight * mass + (1 - weight);
    return mean / mass;
  });
}

function lastKnown(y) {
  for (let row = y.length - 1; row >= 0; row--) if (y[row] !== null) return row;
  return -1;
}

/** Return the row with a value that is closest to `place`, -1 without any. */
function nearest(x, place, y) {
  let best = -1;
  for (let row = 0; row < x.length; row++) {
    if (y[row] === null) continue;
    if (best < 0 || Math.abs(x[row] - place) < Math.abs(x[best] - place)) best = row;
  }
  return best;
}

// Making elements, unpacking data, and statistics. Texts from results are inserted as text, never as markup.

// Children may be nested lists; null is left out.
function add(parent, children) {
  parent.append(...children.flat(9).filter((child) => child !== null && child !== undefined));
  return parent;
}

function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  return element;
}

function el(tag, attributes = {}, ...children) {
  return add(setAll(document.createElement(tag), attributes), children);
}

function svg(tag, attributes = {}, ...children) {
  return add(setAll(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes), children);
}

class TooOld extends Error {}

// A block of data in the page: JSON, plain or compressed.
async function unpack(id) {
  const block = document.getElementById(id);
  if (block.dataset.packed === "json") return JSON.parse(block.textContent);
  if (typeof DecompressionStream === "undefined") throw new TooOld();
  const text = atob(block.textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

// A half is rounded away from 0. Means of shares with 7 decimals may be slightly less than an exact half.
function rounded(value, digits) {
  const scale = 10 ** digits;
  return ((Math.sign(value) * Math.floor(Math.abs(value) * scale + 0.5 + 1e-5 * scale)) / scale).toFixed(digits);
}

const percent = (share, digits = 1) => (share === null || share === undefined ? "–" : `${rounded(100 * share, digits)} %`);
const capital = (text) => (text.startsWith("pass@") ? text : text[0].toUpperCase() + text.slice(1));
const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const sum = (values) => values.reduce((total, value) => total + value, 0);
const mean = (values) => sum(values) / values.length;

function points(value) {
  if (value === null || value === undefined) return "–";
  return String(Number(rounded(value, 2)));
}

// 1 − C(n − c, k) / C(n, k). Source: arXiv 2107.03374.
function passAt(n, c, k) {
  if (n - c < k) return 1;
  let none = 1;
  for (let i = n - c + 1; i <= n; i++) none *= 1 - k / i;
  return 1 - none;
}

const DRAWS = 1000;
const LEAST_PROBLEMS = 6;
const SEED = 20210520;

// Random numbers from 0 to 1 (mulberry32).
function mulberry32(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// The indices of the drawn values; drawn once for each number of problems, and used for all estimates.
const drawn = new Map();
function drawsOf(count) {
  if (!drawn.has(count)) {
    const random = mulberry32(SEED);
    drawn.set(count, Uint32Array.from({ length: (DRAWS / 2) * count }, () => Math.floor(random() * count)));
  }
  return drawn.get(count);
}

// A mean over problems with its 95 % interval, by the rules in `ioi_eval/estimates.py`; no interval for fewer than LEAST_PROBLEMS.
function estimate(values, hasIntervals = true) {
  if (!values.length) return null;
  const value = mean(values);
  const count = values.length;
  if (count < LEAST_PROBLEMS || !hasIntervals) return { value, low: null, high: null };
  const sorted = Float64Array.from(values).sort();
  const indices = drawsOf(count);
  const means = new Float64Array(DRAWS);
  for (let draw = 0; draw < DRAWS / 2; draw++) {
    let [total, fromEnd] = [0, 0];
    for (let i = draw * count; i < (draw + 1) * count; i++) {
      total += sorted[indices[i]];
      fromEnd += sorted[count - 1 - indices[i]];
    }
    means[2 * draw] = total / count;
    means[2 * draw + 1] = fromEnd / count;
  }
  means.sort();
  const [low, high] = [means[DRAWS / 40], means[DRAWS - 1 - DRAWS / 40]].map((end) => (Math.abs(end) < 1e-6 ? 0 : end));
  return { value, low, high };
}

// Whether a randomisation test of paired differences has p < 0.05, by the rules of `sign_flip` in `ioi_eval/estimates.py`.
function isSignFlipRare(differences) {
  const sizes = differences.map(Math.abs).filter((size) => size > 1e-9).sort((a, b) => a - b);
  if (!sizes.length) return false;
  const found = Math.abs(sum(differences));
  if (sizes.length > 20) return found > 1.959964 * Math.sqrt(sum(sizes.map((size) => size * size)));
  const sums = new Float64Array(2 ** (sizes.length - 1));
  sums[0] = sizes[0];
  sizes.slice(1).forEach((size, index) => {
    const half = 2 ** index;
    for (let i = 0; i < half; i++) {
      sums[half + i] = sums[i] - size;
      sums[i] += size;
    }
  });
  const count = sums.reduce((total, one) => total + (Math.abs(one) >= found - 1e-9), 0);
  return count / sums.length < 0.05;
}

function withInterval(estimated, digits = 1) {
  if (estimated === null) return "–";
  if (estimated.low === null) return percent(estimated.value, digits);
  return `${percent(estimated.value, digits)} [${rounded(100 * estimated.low, digits)},\u00a0${rounded(100 * estimated.high, digits)}]`;
}

// What is shown now: the selected groups and dates, and their cells.
class View {
  constructor(summary) {
    this.summary = summary;
    // As long as submissions are still to be judged means have no intervals: the others are not a random sample.
    this.hasIntervals = !summary.runs.some((run) => run.pending);
    this.groups = summary.groups.map((_, index) => index).slice(0, 8);
    this.dates = [...new Set(summary.problems.map((problem) => problem.date).filter(Boolean))].sort();
    this.from = 0;
    this.until = this.dates.length - 1;
    this.cells = new Map(summary.cells.map(([group, problem, cell]) => [group * summary.problems.length + problem, cell]));
  }

  get isDated() {
    return this.dates.length > 1;
  }

  get hasNoGroup() {
    return this.summary.groups.length > 0 && !this.groups.length;
  }

  get hasAllDates() {
    return !this.isDated || (this.from === 0 && this.until === this.dates.length - 1);
  }

  get problems() {
    const all = this.summary.problems.map((_, index) => index);
    if (this.hasAllDates) return all;
    const [from, until] = [this.dates[this.from], this.dates[this.until]];
    return all.filter((index) => {
      const date = this.summary.problems[index].date;
      return date && date >= from && date <= until;
    });
  }

  cell(group, problem) {
    return this.cells.get(group * this.summary.problems.length + problem);
  }

  of(group) {
    return this.problems.map((problem) => this.cell(group, problem)).filter(Boolean);
  }
}

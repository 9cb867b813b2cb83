// Charts: each is a picture with a name for screen readers, and its numbers in a table below.

const DASHES = ["", "7 4", "2 3", "9 3 2 3", "12 4", "4 2 1 2", "1 4", "6 2 2 2 2 2"];
const colour = (index) => `var(--g${index % 8})`;

// A container for a table that may be wider than the page: then it says that it scrolls, and fades at the cut edges.
const widths = new ResizeObserver((entries) => requestAnimationFrame(() => showCuts(entries.map(({ target }) => target.closest(".scroll")))));

function showCuts(holders) {
  const sizes = holders.filter(Boolean).map((one) => [one, one.scrollWidth - one.clientWidth, one.scrollLeft]); // read all widths before changing any element
  for (const [holder, hidden, left] of sizes) {
    holder.classList.toggle("wider", hidden > 1);
    holder.classList.toggle("cut", hidden - left > 1);
  }
}

function scrolling(label, content) {
  const holder = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label, onscroll: () => showCuts([holder]) }, content);
  widths.observe(holder);
  widths.observe(content);
  return holder;
}

// The caption of a table; it does not move while the table scrolls.
const captioned = (text) => el("caption", {}, el("span", { class: "still" }, text));

function table(caption, head, rows, { className = "", left = 1 } = {}) {
  const side = (index) => (index < left ? "" : "number");
  return scrolling(caption,
    el("table", { class: className },
      captioned(caption),
      el("thead", {}, el("tr", {}, head.map((text, index) => el("th", { scope: "col", class: side(index) }, text)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((text, index) =>
        el(index ? "td" : "th", index ? { class: side(index) } : { scope: "row" }, text)))))));
}

function numbers(caption, head, rows) {
  return el("details", {}, el("summary", {}, "The numbers as a table"), table(caption, head, rows));
}

function mark(index) {
  return svg("svg", { class: "swatch long", viewBox: "0 0 64 16", "aria-hidden": "true" },
    svg("polyline", { points: "0,8 64,8", stroke: colour(index), "stroke-width": 3, "stroke-dasharray": DASHES[index % 8] }),
    shape(index, 32, 8));
}

// Lines differ in colour, dashes and marks, so they can be distinguished in black and white.
function shape(index, x, y, ink = colour(index), ground = "var(--page)") {
  const kinds = ["M-4-4h8v8h-8z", "M0-5 5 4H-5z", "M-5 0 0-5 5 0 0 5z", "M0 5 5-4H-5z"];
  const isRound = index % 8 >= 4;
  if (isRound) {
    return svg("circle", { class: "mark", cx: x, cy: y, r: 3.5 + (index % 4) / 2, fill: index % 2 ? ground : ink, stroke: ink, "stroke-width": 2 });
  }
  return svg("path", { class: "mark", d: kinds[index % 4], transform: `translate(${x} ${y})`, fill: index % 2 ? ground : ink, stroke: ink, "stroke-width": 2 });
}

const onBar = (index, x, y) => shape(index, x, y, "var(--page)", colour(index));

// Shortened in the middle, because names of models often differ only at the end.
const inTheMiddle = (text, most) => (text.length > most ? `${text.slice(0, Math.ceil(most / 2) - 1)}…${text.slice(text.length - Math.floor(most / 2))}` : text);

// Names at the ends of lines, so that no legend is needed; names that would touch are moved apart.
function endLabels(lines, width, height) {
  const step = 14;
  const labels = lines.map((line) => ({ ...line, at: line.y })).sort((a, b) => a.y - b.y);
  let least = 0;
  for (const label of labels) {
    label.at = Math.max(label.y, least);
    least = label.at + step;
  }
  let most = height;
  for (const label of [...labels].reverse()) {
    label.at = Math.min(label.at, most);
    most = label.at - step;
  }
  return labels.map((label) => [
    svg("line", { class: "lead", x1: label.x + 6, y1: label.y, x2: width + 8, y2: label.at, stroke: colour(label.group) }),
    svg("text", { class: "end", x: width + 11, y: label.at + 4 }, label.name),
  ]);
}

const MAX_LABELS = 14;

// lines: [{group, name, values: [[k, {value, low, high}], …]}], values from 0 to 1.
function lineChart(title, xName, lines) {
  const ks = [...new Set(lines.flatMap((line) => line.values.map(([k]) => k)))].sort((a, b) => a - b);
  const drawn = lines.filter((line) => line.values.length);
  const isNamed = drawn.length > 1 && drawn.length <= MAX_LABELS;
  const longest = Math.max(...drawn.map((line) => line.name.length));
  if (!ks.length) return el("p", { class: "quiet" }, "There is nothing to draw: no group has such a mean.");
  const figure = el("figure", {}, el("figcaption", {}, title));
  const draw = (width) => {
    const letters = isNamed ? Math.min(longest, Math.floor(width / 28)) : 0;
    const [height, left, right, top, bottom] = [260, 48, 14 + 7 * letters, 10, 40];
    const span = Math.log(ks[ks.length - 1]) || 1;
    const x = (k) => left + (ks.length < 2 ? (width - left - right) / 2 : (Math.log(k) / span) * (width - left - right));
    const y = (value) => top + (1 - value) * (height - top - bottom);
    const picture = svg("svg", { width, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}. The numbers follow as a table.` });
    for (const value of [0, 0.25, 0.5, 0.75, 1]) {
      add(picture, [svg("line", { class: "axis", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
        svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, `${100 * value} %`)]);
    }
    let last = -100;
    for (const k of ks) {
      if (x(k) - last < 30) continue;
      last = x(k);
      add(picture, [svg("text", { x: x(k), y: height - bottom + 18, "text-anchor": "middle" }, `${k}`)]);
    }
    add(picture, [svg("text", { x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" }, xName)]);
    for (const line of drawn) {
      const sure = line.values.filter(([, estimated]) => estimated.low !== null);
      if (sure.length > 1) {
        const [high, low] = ["high", "low"].map((side) => sure.map(([k, estimated]) => `${x(k)},${y(estimated[side])}`));
        const edge = { class: "edge", fill: "none", stroke: colour(line.group), "stroke-dasharray": DASHES[line.group % 8] };
        add(picture, [svg("polygon", { class: "band", points: [...high, ...[...low].reverse()].join(" "), fill: colour(line.group), opacity: 0.1 }),
          svg("polyline", { ...edge, points: high.join(" ") }), svg("polyline", { ...edge, points: low.join(" ") })]);
      } else if (sure.length) {
        const [k, estimated] = sure[0];
        add(picture, [svg("line", { x1: x(k), x2: x(k), y1: y(estimated.low), y2: y(estimated.high), stroke: colour(line.group), "stroke-width": 2, opacity: 0.6 })]);
      }
    }
    for (const line of drawn) {
      const path = line.values.map(([k, estimated]) => `${x(k)},${y(estimated.value)}`).join(" ");
      add(picture, [svg("polyline", { points: path, fill: "none", stroke: colour(line.group), "stroke-width": 2.5, "stroke-dasharray": DASHES[line.group % 8] }),
        line.values.map(([k, estimated]) => shape(line.group, x(k), y(estimated.value)))]);
    }
    if (isNamed) {
      const ends = drawn.map((line) => [line, line.values[line.values.length - 1]]);
      add(picture, endLabels(ends.map(([line, [k, estimated]]) => ({ group: line.group, name: inTheMiddle(line.name, letters), x: x(k), y: y(estimated.value) })), width - right, height - bottom));
    }
    return picture;
  };
  const head = ["", ...ks.map(String)];
  const rows = lines.map((line) => {
    const byK = new Map(line.values);
    return [line.name, ...ks.map((k) => withInterval(byK.get(k) ?? null))];
  });
  add(figure, [
    responsive(draw),
    el("ul", { class: "legend" }, drawn.map((line) => el("li", {}, mark(line.group), line.name))),
    numbers(`${title}: per cent, with 95 % intervals`, head, rows),
  ]);
  return figure;
}

// Pictures are drawn as soon as they are in the page, at its current width, so that they exist without scrolling when the
// page is printed or in the background. When the width changes they are stretched, then drawn again.
const drawings = new WeakMap();
const resized = new ResizeObserver((entries) => requestAnimationFrame(() => fit(entries.map((entry) => entry.target))));

function fit(holders) {
  const widths = holders.map((holder) => holder.clientWidth); // read all widths before drawing, so that the browser makes only one layout
  holders.forEach((holder, index) => {
    const drawing = drawings.get(holder);
    if (!widths[index] || Math.abs(widths[index] - drawing.width) < 2) return;
    drawing.width = widths[index];
    holder.replaceChildren(drawing.draw(Math.max(260, widths[index])));
  });
}

function responsive(draw) {
  const holder = el("div", { class: "picture" });
  drawings.set(holder, { draw, width: 0 });
  resized.observe(holder);
  return holder;
}

// Adjusts everything that depends on the widths of an element's parts. Call it once they are in the page.
function settle(element) {
  fit([...element.querySelectorAll(".picture")]);
  showCuts([...element.querySelectorAll(".scroll")]);
}

const HATCHES = { WA: 45, TLE: -45, RE: 90, MLE: 0, CE: 20, NC: 70, OLE: -20, SV: 135, PA: null, AC: null };

// Hatching of bars, which distinguishes verdicts without colour.
function hatched(verdict, x, y, width, height) {
  const angle = HATCHES[verdict];
  if (angle === null || angle === undefined || width < 4) return [];
  const id = `hatch-${verdict}`;
  return [svg("rect", { x, y, width, height, fill: `url(#${id})`, "pointer-events": "none" })];
}

function patterns() {
  return svg("svg", { width: 0, height: 0, "aria-hidden": "true", style: null },
    svg("defs", {}, Object.entries(HATCHES).filter(([, angle]) => angle !== null).map(([verdict, angle], index) =>
      svg("pattern", { id: `hatch-${verdict}`, width: 5 + (index % 3) * 2, height: 5 + (index % 3) * 2, patternUnits: "userSpaceOnUse", patternTransform: `rotate(${angle})` },
        svg("line", { class: "hatch", x1: 0, y1: 0, x2: 0, y2: 12, opacity: 0.45 })))));
}

// rows: [{name, parts: [[verdict, count], …], total}].
function stackedBars(title, rows, view) {
  const draw = (width) => {
    const [step, bar] = [46, 22];
    const picture = svg("svg", { width, viewBox: `0 0 ${width} ${rows.length * step}`, role: "img", "aria-label": `${title}. The numbers follow as a table.` });
    rows.forEach((row, index) => {
      const y = index * step + 18;
      let x = 0;
      add(picture, [svg("text", { x: 0, y: y - 5 }, `${shortened(row.name, width / 9)} (${row.total.toLocaleString("en")})`)]);
      for (const [verdict, count] of row.parts) {
        const size = (count / row.total) * width;
        const label = `${verdict} ${percent(count / row.total, 0)}`;
        add(picture, [
          svg("rect", { class: "segment", x, y, width: Math.max(0.5, size - 1), height: bar, fill: `var(--${verdict})` }, svg("title", {}, `${verdict}: ${count} (${percent(count / row.total)})`)),
          ...hatched(verdict, x, y, Math.max(0, size - 1), bar),
        ]);
        if (size > 7.8 * label.length + 8) {
          add(picture, [svg("rect", { x: x + 3, y: y + 3, width: 7.8 * label.length + 2, height: bar - 6, rx: 3, fill: "var(--page)" }), svg("text", { x: x + 6, y: y + 15 }, label)]);
        }
        x += size;
      }
    });
    return picture;
  };
  const present = new Set(rows.flatMap((row) => row.parts.map(([verdict]) => verdict)));
  const verdicts = view.summary.verdicts.filter((verdict) => present.has(verdict));
  const swatch = (verdict) => svg("svg", { class: "swatch", viewBox: "0 0 26 13", "aria-hidden": "true" },
    svg("rect", { class: "segment", x: 0.5, y: 0.5, width: 25, height: 12, fill: `var(--${verdict})` }), ...hatched(verdict, 0, 0, 26, 13));
  return el("figure", {}, el("figcaption", {}, title), responsive(draw),
    el("ul", { class: "legend" }, verdicts.map((verdict) => el("li", {}, swatch(verdict),
      el("button", { class: "link", title: "Show these submissions", onclick: () => view.showOnly?.(verdict, false) }, `${verdict}: ${view.summary.verdict_names[verdict]}`)))),
    numbers(title, ["", "scored submissions", ...verdicts], rows.map((row) => {
      const counts = new Map(row.parts);
      return [row.name, row.total, ...verdicts.map((verdict) => counts.get(verdict) ?? 0)].map(String);
    })));
}

function shortened(text, most) {
  return text.length > most ? `${text.slice(0, Math.max(4, Math.floor(most) - 1))}…` : text;
}

// bars: [{name, rows: [{group, name, value, best, text}]}], values from 0 to 1.
function barChart(title, bars, names) {
  const count = sum(bars.map((bar) => bar.rows.length));
  const draw = (width) => {
    const picture = svg("svg", { width, viewBox: `0 0 ${width} ${bars.length * 24 + count * 18}`, role: "img", "aria-label": `${title}. The numbers follow as a table.` });
    let y = 0;
    for (const bar of bars) {
      add(picture, [svg("text", { x: 0, y: y + 15, "font-weight": 600 }, shortened(bar.name, width / 8))]);
      y += 20;
      for (const row of bar.rows) {
        const right = 44;
        add(picture, [
          svg("rect", { x: 0, y, width: width - right, height: 13, fill: "none", class: "axis" }),
          svg("rect", { class: "segment", x: 0, y, width: row.value * (width - right), height: 13, fill: colour(row.group) }, svg("title", {}, `${row.name}: ${row.text}`)),
          row.value * (width - right) > 20 ? onBar(row.group, 9, y + 6.5) : null,
          svg("line", { class: "limit", x1: row.best * (width - right), x2: row.best * (width - right), y1: y - 1, y2: y + 14 }),
          svg("text", { x: width - right + 6, y: y + 11 }, percent(row.value, 0)),
        ]);
        y += 18;
      }
      y += 4;
    }
    return picture;
  };
  const groups = [...new Map(bars.flatMap((bar) => bar.rows).map((row) => [row.group, row.name]))];
  return el("figure", {}, el("figcaption", {}, title), responsive(draw),
    el("ul", { class: "legend" },
      groups.map(([group, name]) => el("li", {}, svg("svg", { class: "swatch", viewBox: "0 0 26 13", "aria-hidden": "true" },
        svg("rect", { class: "segment", width: 26, height: 13, fill: colour(group) }), onBar(group, 13, 6.5)), name)),
      el("li", {}, svg("svg", { class: "swatch", viewBox: "0 0 26 13", "aria-hidden": "true" }, svg("line", { class: "limit", x1: 13, x2: 13, y1: 0, y2: 13 })), names.best)),
    numbers(title, ["", "group", names.mean, names.best], bars.flatMap((bar) => bar.rows.map((row) => [bar.name, row.name, percent(row.value), percent(row.best)]))));
}

const BINS = ["0–10", "10–20", "20–30", "30–40", "40–50", "50–60", "60–70", "70–80", "80–90", "90–100", "100–110", "over 110"];

// Round percentages from 0 to at least the value, in at most four steps.
function roundTicks(most) {
  const step = [1, 2, 5, 10, 20].find((one) => most / one <= 4) ?? 25;
  return Array.from({ length: Math.max(1, Math.ceil(most / step)) + 1 }, (_, index) => index * step);
}

// rows: [{group, name, bins: [12 counts]}].
function limitChart(title, rows, isTime) {
  const draw = (width) => {
    const [height, left, bottom] = [210, 48, 42];
    const shares = rows.map((row) => row.bins.map((count) => (100 * count) / sum(row.bins)));
    const ticks = roundTicks(Math.max(...shares.flat()));
    const top = ticks[ticks.length - 1];
    const slot = (width - left - 8) / BINS.length; // room for the last tick
    const bar = Math.max(1.5, (slot - 4) / rows.length);
    const above = bar >= 5 ? 34 : 18; // room for marks
    const y = (share) => above + (1 - share / top) * (height - bottom - above);
    const marked = shares.map((of) => of.indexOf(Math.max(...of))); // a group's highest bar has its mark
    const highest = (bin) => Math.max(...shares.filter((_, order) => marked[order] === bin).map((of) => of[bin]));
    const picture = svg("svg", { width, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}. The numbers follow as a table.` });
    for (const share of ticks) {
      add(picture, [svg("line", { class: "axis", x1: left, x2: width, y1: y(share), y2: y(share) }),
        svg("text", { x: left - 5, y: y(share) + 4, "text-anchor": "end" }, `${share} %`)]);
    }
    rows.forEach((row, order) => row.bins.forEach((count, bin) => {
      const share = shares[order][bin];
      if (!count) return;
      add(picture, [svg("rect", { class: "segment", x: left + bin * slot + 2 + order * bar, y: y(share), width: Math.max(1, bar - 1), height: y(0) - y(share), fill: colour(row.group) },
        svg("title", {}, `${row.name}: ${count} at ${BINS[bin]} %`))]);
      // In two lines above the highest bar, so that no two marks touch.
      if (bar >= 5 && bin === marked[order]) add(picture, [shape(row.group, left + bin * slot + 2 + (order + 0.5) * bar, y(highest(bin)) - 8 - 13 * (order % 2))]);
    }));
    add(picture, [svg("line", { class: "limit", x1: left + 10 * slot, x2: left + 10 * slot, y1: 0, y2: y(0) }),
      svg("text", { x: left + 10 * slot - 4, y: 9, "text-anchor": "end" }, "limit"),
      [0, 2, 4, 6, 8, 10].map((bin) => [svg("line", { class: "axis", x1: left + bin * slot, x2: left + bin * slot, y1: y(0), y2: y(0) + 5 }),
        svg("text", { class: "tick", x: left + bin * slot, y: height - 24, "text-anchor": "middle" }, `${10 * bin} %`)]),
      svg("text", { class: "tick", x: width, y: height - 24, "text-anchor": "end" }, "more"),
      svg("text", { x: (left + width) / 2, y: height - 3, "text-anchor": "middle" }, `${isTime ? "CPU time" : "peak memory"}, % of the limit`)]);
    return picture;
  };
  return el("figure", {}, el("figcaption", {}, title), responsive(draw), numbers(`${title}: submissions by per cent of the limit`, ["", ...BINS.map((bin) => `${bin} %`)], rows.map((row) => [row.name, ...row.bins.map(String)])));
}

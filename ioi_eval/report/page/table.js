// The table of submissions: filtered and sorted in columns of numbers, fifty rows at a time in the document.

const PAGE = 50;

const COLUMNS = [
  { name: "id", label: "submission", less: false },
  { name: "group", label: "group", less: true },
  { name: "problem", label: "problem", less: false },
  { name: "verdict", label: "verdict", less: false },
  { name: "score", label: "points", number: true, less: false },
  { name: "time", label: "CPU time, s", number: true, less: true },
  { name: "memory", label: "peak memory, MiB", number: true, less: true },
];

// Explanations of verdicts whose names say too little.
const MORE = {
  AC: ": nothing failed", PA: ": a part of the points, and nothing failed otherwise", SV: ": a system call that no honest program makes",
  RE: ": it crashed, or ended with an exit code that is not 0", NC: " in what the model wrote",
  TLE: ": the judge stops a program that is too late, so its CPU time may say only how far it came",
  JE: ": our failure or a checker's, never the program's; it has no score", SKIPPED: ": the test could not change the result",
};

class Submissions {
  constructor(view, rows) {
    this.view = view;
    this.rows = rows;
    this.count = rows.id.length;
    this.near = new Uint8Array(this.count);
    this.copy = new Uint8Array(this.count);
    for (const index of rows.near) this.near[index] = 1;
    this.originals = new Map(rows.copy.map((index, order) => [index, rows.original[order]]));
    for (const index of this.originals.keys()) this.copy[index] = 1;
    const { groups, problems } = view.summary;
    const names = problems.map((problem) => problemName(problem).toLowerCase());
    this.texts = rows.id.map((id, index) => `${id.toLowerCase()} ${names[rows.problem[index]] ?? ""} ${groups[rows.group[index]].toLowerCase()}`);
    this.names = shortNames(rows.id);
    this.blocks = new Map();
    this.page = 0;
    this.sorted = { name: "", down: false };
    this.order = Array.from({ length: this.count }, (_, index) => index);
    this.build();
  }

  build() {
    const { summary } = this.view;
    const change = () => this.filter();
    const choose = (id, label, options) => {
      const select = el("select", { id, onchange: change }, el("option", { value: "" }, "all"), options.map(([value, text]) => el("option", { value }, text)));
      return [select, el("label", { class: "above" }, label, select)];
    };
    this.search = el("input", { type: "search", id: "search", oninput: change, autocomplete: "off", spellcheck: "false" });
    const existing = new Set(this.rows.verdict);
    if (summary.cells.some(([, , cell]) => cell.je)) existing.add(summary.verdicts.indexOf("JE")); // the table may not hold all rows
    const indices = summary.verdicts.map((_, index) => index).filter((index) => existing.has(index));
    this.verdicts = new Set(); // the selected verdicts; empty for all
    this.chips = new Map([...indices, ...(existing.has(-1) ? [-1] : [])].map((index) => [index, this.chip(index)]));
    let groupLabel, problemLabel;
    [this.group, groupLabel] = choose("filter-group", "Group", summary.groups.map((name, index) => [index, name]));
    [this.problem, problemLabel] = choose("filter-problem", "Problem", summary.problems.map((problem, index) => [index, problemName(problem)]));
    this.onlyNear = el("input", { type: "checkbox", id: "filter-near", onchange: change });
    this.noCopies = el("input", { type: "checkbox", id: "filter-copies", onchange: change });
    this.status = el("p", { role: "status", id: "found", tabindex: "-1", class: "quiet" });
    this.reset = el("button", { class: "no-print", id: "reset", hidden: true, onclick: () => { this.clear(); this.filter(); this.status.focus(); } }, "Reset search and filters");
    this.head = el("tr", {}, COLUMNS.map((column) => el("th", { scope: "col", class: `${column.number ? "number" : ""} ${column.less ? "less" : ""}` },
      el("button", { "data-column": column.name, onclick: () => this.sort(column.name) }, column.name === "score" && summary.family === "apps" ? "tests passed" : column.label))));
    this.body = el("tbody", {});
    this.before = el("button", { onclick: () => this.turn(-1) }, "Previous");
    this.after = el("button", { onclick: () => this.turn(1) }, "Next");
    this.element = el("div", {},
      el("div", { class: "row no-print" }, el("label", { class: "above" }, "Search id, problem, group", this.search), groupLabel, problemLabel, el("label", {}, this.onlyNear, "near the time limit"),
        this.originals.size ? el("label", {}, this.noCopies, "no copies") : null),
      el("fieldset", { id: "filter-verdict", class: "no-print" }, el("legend", {}, "Only these verdicts"), el("div", { class: "chips" }, [...this.chips.values()].map((chip) => chip.button))),
      this.legend(),
      this.status, this.reset,
      el("p", { class: "quiet narrow" }, "Group, CPU time and memory have no column in so narrow a window: open a submission to see them."),
      scrolling("Submissions",
        el("table", { id: "submissions-table", class: "wide" },
          captioned("Submissions, in the order of the results until a heading sorts; a submission's name opens its program and its tests."),
          el("thead", {}, this.head), this.body)),
      el("p", { class: "row no-print" }, this.before, this.after));
    this.filter();
  }

  // A button that shows or hides submissions with a verdict, with the verdict's name.
  chip(index) {
    const { summary } = this.view;
    const verdict = summary.verdicts[index];
    const count = el("span", {});
    const button = el("button", { "aria-pressed": "false", "--verdict": `var(--${verdict ?? "NC"})`, onclick: () => {
      if (!this.verdicts.delete(index)) this.verdicts.add(index);
      this.filter();
    } }, el("span", { class: "verdict" }, verdict ?? "not judged"), verdict ? ` ${summary.verdict_names[verdict]} ` : " ", count);
    return { button, count };
  }

  legend() {
    const names = Object.entries(this.view.summary.verdict_names);
    return el("details", {}, el("summary", {}, "What all verdicts mean"),
      el("dl", { class: "names" }, names.map(([verdict, name]) => el("div", {}, el("dt", {}, verdict), el("dd", {}, `${name}${MORE[verdict] ?? ""}`)))));
  }

  // Keeps the submissions of the groups and dates that are selected at the top of the page, and updates the lists.
  choose() {
    const { rows, view } = this;
    const [groups, problems] = [new Set(view.groups), new Set(view.problems)];
    this.chosen = Uint8Array.from(rows.group, (group, index) => groups.has(group) && (view.hasAllDates || problems.has(rows.problem[index])));
    for (const [select, indices] of [[this.group, groups], [this.problem, problems]]) {
      for (const option of select.options) option.disabled = option.value !== "" && !indices.has(Number(option.value));
      if (select.selectedOptions[0].disabled) select.value = "";
    }
    this.some = sum(this.chosen);
    this.where = [groups.size < view.summary.groups.length ? "groups" : "", view.hasAllDates ? "" : "problems"].filter(Boolean).join(" and ");
  }

  // How many submissions the button of each verdict would show.
  countVerdicts(indices) {
    const { verdict: verdicts } = this.rows;
    const counts = new Map();
    for (const index of indices) counts.set(verdicts[index], (counts.get(verdicts[index]) ?? 0) + 1);
    for (const [verdict, { button, count }] of this.chips) {
      count.textContent = (counts.get(verdict) ?? 0).toLocaleString("en");
      button.disabled = !counts.get(verdict) && !this.verdicts.has(verdict);
      button.setAttribute("aria-pressed", String(this.verdicts.has(verdict)));
    }
  }

  filter() {
    this.choose();
    const { rows } = this;
    const terms = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const [group, problem] = [this.group, this.problem].map((select) => (select.value === "" ? null : Number(select.value)));
    const others = this.order.filter((index) => this.chosen[index]
      && (group === null || rows.group[index] === group) && (problem === null || rows.problem[index] === problem)
      && (!this.onlyNear.checked || this.near[index])
      && (!this.noCopies.checked || !this.copy[index])
      && terms.every((term) => this.texts[index].includes(term)));
    this.countVerdicts(others);
    this.matching = this.verdicts.size ? others.filter((index) => this.verdicts.has(rows.verdict[index])) : others;
    this.isFiltered = terms.length > 0 || group !== null || problem !== null || this.verdicts.size > 0 || this.onlyNear.checked || this.noCopies.checked;
    this.page = 0;
    this.draw();
  }

  clear() {
    for (const input of [this.search, this.group, this.problem]) input.value = "";
    this.verdicts.clear();
    this.onlyNear.checked = this.noCopies.checked = false;
  }

  sort(name) {
    this.sorted = { name, down: this.sorted.name === name && !this.sorted.down };
    const { summary } = this.view;
    const column = this.rows[name];
    const sign = this.sorted.down ? -1 : 1;
    if (name === "id") {
      const collator = new Intl.Collator("en", { numeric: !column.some(isHexadecimal) });
      this.order.sort((a, b) => sign * collator.compare(column[a], column[b]) || a - b);
    } else {
      // Unknown values are last in both directions.
      const ranks = name === "group" ? ranked(summary.groups) : null;
      const value = (index) => (ranks ? ranks[column[index]] : column[index]);
      const isUnknown = (index) => column[index] === null || column[index] === -1;
      this.order.sort((a, b) => isUnknown(a) - isUnknown(b) || sign * (value(a) - value(b)) || a - b);
    }
    for (const heading of this.head.children) {
      if (heading.firstChild.dataset.column === name) heading.setAttribute("aria-sort", this.sorted.down ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    }
    this.filter();
  }

  turn(by) {
    this.page += by;
    this.draw();
    this.element.querySelector("tbody button")?.focus();
  }

  draw() {
    const start = this.page * PAGE;
    const shown = this.matching.slice(start, start + PAGE);
    this.body.replaceChildren(...shown.map((index) => this.row(index)));
    this.before.disabled = this.page === 0;
    this.after.disabled = start + PAGE >= this.matching.length;
    const range = shown.length ? `: ${(start + 1).toLocaleString("en")} to ${(start + shown.length).toLocaleString("en")} are shown` : "";
    const isMissed = this.some > 0 && !this.matching.length;
    this.reset.hidden = !this.isFiltered;
    const of = `of ${this.some.toLocaleString("en")}${this.where ? ` in the ${this.where} selected above` : ""}`;
    this.status.textContent = this.view.hasNoGroup ? "No group is selected." : isMissed ? `No submission matches, ${of}.` : `${counted(this.matching.length, "submission")} ${of}${range}`;
  }

  row(index) {
    const cells = this.cells(index);
    return el("tr", {}, COLUMNS.map((column, order) => el(order ? "td" : "th",
      { ...(order ? {} : { scope: "row" }), class: `${column.number ? "number" : ""} ${column.less ? "less" : ""}` }, cells[column.name])));
  }

  // The cells of a row, by column.
  cells(index) {
    const { summary } = this.view;
    const { rows } = this;
    const problem = summary.problems[rows.problem[index]];
    const verdict = rows.verdict[index] < 0 ? null : summary.verdicts[rows.verdict[index]];
    const id = rows.id[index];
    const name = this.names.get(id) ?? id;
    const button = el("button", { class: "link", title: name === id ? null : id, "aria-expanded": "false", onclick: () => this.toggle(index, button) }, name || "(no name)");
    const full = summary.family === "apps" ? null : problem?.points;
    const score = rows.score[index];
    return {
      id: button,
      group: summary.groups[rows.group[index]],
      problem: problem ? problemName(problem) : "–",
      verdict: [el("span", { class: "verdict", title: verdict ? summary.verdict_names[verdict] : null, "--verdict": `var(--${verdict ?? "NC"})` }, verdict ?? "not judged"),
        this.near[index] ? el("span", { class: "tag" }, "near time limit") : null, this.copy[index] ? el("span", { class: "tag", title: "It has the result of an identical program." }, "copy") : null],
      score: score === null ? "–" : full !== null ? `${points(score)}/${points(full)}` : percent(score, 0),
      time: rows.time[index] === null ? "–" : String(rows.time[index]) + (problem?.time ? ` / ${Number(rounded(problem.time, 3))}` : ""), // as many digits as the time has
      memory: rows.memory[index] === null ? "–" : String(rows.memory[index]) + (problem?.memory ? ` / ${points(problem.memory)}` : ""),
    };
  }

  // A note of which submission a copy has the result, with a button that shows it.
  copyNote(index) {
    if (!this.copy[index]) return null;
    const original = this.originals.get(index);
    const note = "Copy: it has the result of an identical program";
    if (this.rows.verdict[index] === this.view.summary.verdicts.indexOf("NC")) return null; // there is no program
    if (original < 0) return el("p", {}, `${note}, which is not in this table.`);
    const id = this.rows.id[original];
    return el("p", {}, `${note}, submission `, el("button", { class: "link", onclick: () => { this.clear(); this.search.value = id; this.filter(); this.status.focus(); } }, this.names.get(id) ?? id), ".");
  }

  async toggle(index, button) {
    const row = button.closest("tr");
    if (button.getAttribute("aria-expanded") === "true") {
      button.setAttribute("aria-expanded", "false");
      row.nextElementSibling.remove();
      return;
    }
    button.setAttribute("aria-expanded", "true");
    const holder = el("div", { class: "detail" }, "Unpacking …");
    row.after(el("tr", { class: "opened" }, el("td", { colspan: COLUMNS.length }, holder)));
    holder.replaceChildren(add(new DocumentFragment(), await this.opened(index)));
  }

  async opened(index) {
    const { rows, view } = this;
    const run = view.summary.runs[rows.directory.length ? rows.directory[index] : 0];
    const where = `line ${rows.line[index]} of results.jsonl in ${run.directory}`;
    const [block, inBlock] = rows.detail[index] ?? [-1, 0];
    if (block < 0) return [this.copyNote(index), el("p", {}, `The program of submission ${rows.id[index]} is not in the page, which would be too large: it is ${where}.`)];
    if (!this.blocks.has(block)) this.blocks.set(block, unpack(`block-${block}`));
    const shown = { ...(await this.blocks.get(block))[inBlock] };
    if (shown.input >= 0) {
      this.inputs ??= unpack("inputs");
      shown.given = (await this.inputs)[shown.input];
    }
    if (rows.verdict[index] === view.summary.verdicts.indexOf("NC") && !shown.text) shown.text = `These results do not have it: see submission ${rows.id[index]} in the dump.`;
    const fact = (name) => this.cells(index)[name];
    const hidden = el("p", { class: "narrow" }, `group: ${fact("group")}; CPU time, s: ${fact("time")}; peak memory, MiB: ${fact("memory")}`);
    return [hidden, this.copyNote(index), detail(shown, view.summary.problems[rows.problem[index]]), el("p", { class: "quiet" }, `Submission ${rows.id[index]} is ${where}.`)];
  }
}

const isHexadecimal = (id) => /^[0-9a-f-]{32,64}$/i.test(id);

// Shortens long hexadecimal ids to their first 8 characters if these are unique.
function shortNames(ids) {
  const long = [...new Set(ids)].filter(isHexadecimal);
  const counts = new Map();
  for (const id of long) counts.set(id.slice(0, 8), (counts.get(id.slice(0, 8)) ?? 0) + 1);
  return new Map(long.filter((id) => counts.get(id.slice(0, 8)) === 1).map((id) => [id, id.slice(0, 8)]));
}

function ranked(names) {
  const order = names.map((name, index) => [name, index]).sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
  const ranks = [];
  order.forEach(([, index], rank) => { ranks[index] = rank; });
  return ranks;
}

const box = (label, text, className = "") => (text ? [el("h3", {}, label), el("pre", { class: className, tabindex: "0", "aria-label": label }, text)] : []);

function testLine(test) {
  const of = [`test ${test.name}: ${test.verdict}`];
  if (test.score !== undefined) of.push(`score ${Math.round(test.score * 1e4) / 1e4}`);
  if (test.time !== undefined) of.push(`${test.time} s`);
  if (test.memory !== undefined) of.push(`${test.memory} MiB`);
  if (test.limit) of.push(`limit: ${test.limit}`);
  if (test.exit_code) of.push(`exit code ${test.exit_code}`);
  if (test.signal) of.push(`signal ${test.signal}`);
  if (test.near) of.push("near the time limit");
  return of.join(", ");
}

// The details of a submission: first why it failed, then its subtasks, tests and program.
function detail(shown, problem) {
  const tests = shown.tests ?? [];
  const failing = tests.find((test) => test.decides);
  const isChecked = shown.subtasks && ["WA", "PA"].includes(failing?.verdict);
  const facts = [["subtask it was written for", shown.target], ["language", shown.language], ["code found by", shown.extraction], ["judged by", shown.judged]].filter(([, value]) => value);
  return [
    facts.length ? el("p", { class: "quiet" }, facts.map(([name, value]) => `${name}: ${value}`).join("; ")) : [],
    shown.error && shown.error !== shown.message ? box("Why it was not judged", shown.error, "words") : [],
    box("The judge's message", shown.message, "words"),
    box(shown.code ? "The compiler's message" : "Why nothing was compiled", shown.compiler, "words"),
    failing ? el("div", { class: "failing" },
      el("h3", {}, "The test that gave the verdict"), el("p", {}, testLine(failing)),
      box("Input", shown.given, "words"), box(isChecked ? "The checker's message" : "What was found", failing.message, "words"),
      isChecked ? el("p", { class: "quiet" }, "Where no expected output is named, the problem has a checker of its own, which may accept several outputs.") : [], box("Output", failing.output, "words"), box("Standard error", failing.stderr, "words")) : [],
    (shown.subtasks ?? []).length ? table("Subtasks", ["subtask", "verdict", "points", "tests"], shown.subtasks.map(([name, verdict, score, full, [accepted, all, skipped]]) =>
      [name, verdict, `${points(score)}/${points(full)}`, `${accepted} of ${all} accepted${skipped ? `, ${skipped} not counted` : ""}`]), { left: 2 }) : [],
    tests.length ? el("details", {}, el("summary", {}, counted(tests.length + (shown.more ?? 0), "test")),
      table("Tests", ["test", "verdict", "message", "CPU time, s", "peak memory, MiB"],
        tests.map((test) => [test.name, test.verdict === "SKIPPED" ? "not counted" : test.verdict, test.message || test.stderr || "", test.time ?? "–", test.memory ?? "–"].map(String)), { left: 3 }),
      shown.more ? el("p", { class: "quiet" }, `${counted(shown.more, "test")} more; those that failed are shown first.`) : null) : [],
    shown.code ? box("Program", shown.code) : [el("p", {}, "There is no program."), box("What the model wrote", shown.text, "words")],
  ];
}

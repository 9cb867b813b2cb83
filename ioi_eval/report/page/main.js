// Builds the page. Charts are shown even if the browser cannot unpack the table.

function section(view, id, title, content) {
  const holder = el("div", {});
  const fill = () => {
    const focused = holder.contains(document.activeElement) ? document.activeElement.id : "";
    holder.replaceChildren(add(new DocumentFragment(), view.hasNoGroup ? [el("p", {}, "No group is selected.")] : content(show)));
    if (focused) document.getElementById(focused)?.focus();
  };
  const show = () => {
    fill();
    settle(holder);
  };
  return { id, title, fill, element: el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), holder) };
}

function controls(view, changed) {
  const { groups } = view.summary;
  const boxes = groups.length < 2 ? null : el("fieldset", {}, el("legend", {}, "Groups"),
    el("div", { class: "row" }, groups.map((name, group) => el("label", {},
      el("input", { type: "checkbox", checked: view.groups.includes(group), onchange: (event) => {
        const chosen = new Set(view.groups);
        if (event.target.checked) chosen.add(group);
        else chosen.delete(group);
        view.groups = groups.map((_, index) => index).filter((index) => chosen.has(index));
        changed();
      } }), mark(group), name))));
  return boxes || view.isDated ? el("div", { class: "controls" }, boxes, view.isDated ? dates(view, changed) : null) : null;
}

// Selects problems by date: a model cannot have seen problems that were published after its training.
function dates(view, changed) {
  const last = view.dates.length - 1;
  const range = el("output", { id: "date-range" });
  const say = () => { range.textContent = `${view.dates[view.from]} to ${view.dates[view.until]}: ${counted(view.problems.length, "problem")}`; };
  const slider = (name, label) => el("label", { class: "above" }, label, el("input", {
    type: "range", id: `date-${name}`, min: 0, max: last, step: 1, value: view[name], "aria-valuetext": view.dates[view[name]],
    oninput: (event) => {
      view[name] = Number(event.target.value);
      if (name === "from") view.until = Math.max(view.until, view.from);
      else view.from = Math.min(view.from, view.until);
      for (const other of ["from", "until"]) {
        const input = document.getElementById(`date-${other}`);
        input.value = view[other];
        input.setAttribute("aria-valuetext", view.dates[view[other]]);
      }
      say();
      changed();
    },
  }));
  say();
  return el("fieldset", {}, el("legend", {}, "Problems published"), el("div", { class: "row" }, slider("from", "from"), slider("until", "until"), range));
}

const MAX_TITLES = 8;

// Names the problems: their years, and their names if they are few.
function problemsOf(summary) {
  const { family, problems } = summary;
  const years = family === "apps" ? [] : [...new Set(problems.map((problem) => problem.bucket).filter(Boolean))].sort();
  const of = years.length > 2 ? ` of ${years.length} years (${years[0]} to ${years[years.length - 1]})` : years.length ? ` of ${years.join(" and ")}` : "";
  const names = problems.map((problem) => problem.name).filter(Boolean);
  return `${counted(problems.length, "problem")}${of}${names.length && names.length === problems.length && names.length <= MAX_TITLES ? ` (${[...new Set(names)].join(", ")})` : ""}`;
}

function about(summary) {
  const runs = summary.runs;
  const open = runs.filter((run) => !run.complete || run.interrupted || run.pending);
  const finished = runs.map((run) => run.finished).filter(Boolean).sort();
  const facts = [`${counted(summary.rows, "submission")}${summary.groups.length > 1 ? ` in ${summary.groups.length} groups` : ""} to ${problemsOf(summary)}`];
  if (finished.length) facts.push(`judged until ${finished[finished.length - 1].replace("T", " ").replace("+00:00", " UTC")}`);
  add(document.getElementById("about"), [`${facts.join(", ")}. Made by ioi_eval ${summary.made}.`]);
  const notes = runs.flatMap((run) => run.notes);
  return [
    open.map((run) => el("p", { class: "warning" }, run.pending ? `${run.pending}. To continue, repeat the command of the run (without --no-resume).` : `${run.directory} is not complete: something could not be judged; see below.`)),
    summary.rows > summary.shown ? el("p", { class: "warning" }, `The table holds the first ${summary.shown.toLocaleString("en")} of ${summary.rows.toLocaleString("en")} submissions; charts are of all.`) : [],
    notes.length ? el("details", {}, el("summary", {}, counted(notes.length, "note")), el("ul", {}, notes.map((note) => el("li", {}, note)))) : [],
  ];
}

async function start() {
  const main = document.getElementById("main");
  const summary = await unpack("summary");
  const view = new View(summary);
  const state = { measure: "mean", rows: "auto", order: "listed", problem: -1 };
  const sections = [
    section(view, "groups", summary.groups.length > 1 ? "Which is best" : "Overall", () => overview(view)),
    ...(summary.contests.length ? [section(view, "contests", "Compared with contestants", () => contestTables(view))] : []),
    section(view, "heat-map", "Which problems are hard", (show) => heat(view, state, show)),
    section(view, "scores", "Score by number of submissions", () => scoreCurves(view)),
    section(view, "pass-at-k", "pass@k", () => passCurves(view)),
    section(view, "subtasks", summary.family === "apps" ? "Difficulties" : "Subtasks", (show) => subtaskBars(view, state, show)),
    section(view, "verdicts", "Verdicts", () => verdictMix(view)),
    section(view, "limits", "Time and memory", () => limits(view)),
    section(view, "apart", "Judge errors, and near the time limit", () => apart(view)),
  ];
  let list = null;
  const changed = () => {
    sections.forEach((one) => one.fill());
    list?.filter();
    settle(main); // last: it makes the browser lay the page out
  };
  const holder = el("section", { id: "submissions", "aria-labelledby": "submissions-title" }, el("h2", { id: "submissions-title" }, "Submissions"));
  add(main, [about(summary), controls(view, changed), sections.map((one) => one.element), holder]);
  document.body.append(patterns());
  changed();
  const contents = [...sections.map((one) => [one.id, one.title]), ["submissions", "Submissions"]];
  document.getElementById("contents").append(el("ul", {}, contents.map(([id, title]) => el("li", {}, el("a", { href: `#${id}` }, title)))));
  list = new Submissions(view, await unpack("rows"));
  holder.append(list.element);
  const go = () => {
    list.filter();
    holder.scrollIntoView();
    list.status.focus({ preventScroll: true }); // not the search field: a phone would show its keyboard
  };
  view.showProblem = (problem) => {
    state.problem = problem;
    sections.find((one) => one.id === "subtasks").fill();
    settle(main);
    list.clear();
    list.problem.value = String(problem);
    go();
  };
  view.showOnly = (verdict, isNear) => {
    list.clear();
    if (verdict) list.verdicts.add(summary.verdicts.indexOf(verdict));
    list.onlyNear.checked = isNear;
    go();
  };
  document.documentElement.dataset.ready = "yes";
}

start().catch((error) => {
  const old = "This browser is too old to unpack the page (DecompressionStream): report.md beside it has the numbers.";
  document.getElementById("loading").textContent = error instanceof TooOld ? old : `The page could not be built: ${error.message}`;
  if (!(error instanceof TooOld)) throw error;
});

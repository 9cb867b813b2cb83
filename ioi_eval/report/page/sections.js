// The sections above the table of submissions. Each is a function that makes the content for a view.

const MAX_HEAT_ROWS = 60; // with more problems it first shows years or difficulties
const MAX_ROWS = 500;

const isApps = (view) => view.summary.family === "apps";
const bucketWord = (view) => (isApps(view) ? "difficulty" : "year");
const problemName = (problem) => (problem.name && problem.name !== problem.id ? `${problem.id} ${problem.name}` : problem.id);

// One name for each quantity; docs/glossary.md has them all.
const NAMES = {
  contest: { mean: "mean score", best: "best submission", all: "sum of best subtasks", solved: "pass@1" },
  apps: { mean: "test case average", best: "best submission", solved: "strict accuracy (pass@1)" },
};
const namesOf = (view) => NAMES[view.summary.family];
const unitOf = (view, measure) => (measure === "solved" ? "% of submissions" : isApps(view) ? "% of tests passed" : "% of full marks");

// The cells that a mean over problems is of. If all submissions to some problem have a judge error, a contest has no mean, as
// in report.md; APPS has that of the other problems.
const scored = (view, cells) => (isApps(view) || cells.every((cell) => cell.n > 0) ? cells.filter((cell) => cell.n > 0) : []);

// The numbers of cells with this name; none if one cell lacks it, because its problem is worth no points.
function known(cells, name) {
  const values = cells.map((cell) => cell[name]);
  return values.includes(undefined) ? [] : values;
}

// The numbers of a group: means over problems, and counts.
function numbersOf(view, group) {
  const cells = view.of(group);
  const judged = scored(view, cells);
  const together = isApps(view) ? known(judged, "best") : known(cells, "all");
  return {
    n: sum(cells.map((cell) => cell.n)),
    je: sum(cells.map((cell) => cell.je)),
    near: sum(cells.map((cell) => cell.near)),
    copies: sum(cells.map((cell) => cell.copies)),
    targeted: sum(cells.map((cell) => cell.targeted)),
    solved: estimate(judged.map((cell) => cell.solved / cell.n), view.hasIntervals),
    score: estimate(known(judged, "mean"), view.hasIntervals),
    together: together.length ? mean(together) : null,
    problems: cells.filter((cell) => cell.n > 0).length,
  };
}

// Whether one of two groups has scored submissions to a problem to which the other has none.
function hasOthers(view, group, first) {
  return view.problems.some((problem) => !view.cell(group, problem)?.n !== !view.cell(first, problem)?.n);
}

function behind(view, group, first) {
  if (group === first) return "first";
  const pairs = view.problems.map((problem) => [view.cell(group, problem), view.cell(first, problem)]);
  const both = pairs.filter(([one, other]) => one?.n && other?.n);
  if (!known(both.flat(), "mean").length) return "–";
  if (hasOthers(view, group, first)) return ["other problems ", el("small", {}, `${both.length.toLocaleString("en")} in common`)];
  const differences = both.map(([one, other]) => one.mean - other.mean);
  const difference = estimate(differences, view.hasIntervals);
  const signed = (value) => rounded(100 * value, 1).replace("-", "−");
  const of = counted(both.length, "problem");
  if (difference.low === null) return [`${signed(difference.value)} `, el("small", {}, of)];
  const isSignificant = (difference.high < 0 || difference.low > 0) && isSignFlipRare(differences);
  const word = isSignificant ? "" : ", not significant";
  return [`${signed(difference.value)} [${signed(difference.low)},\u00a0${signed(difference.high)}] `, el("small", {}, `${of}${word}`)];
}

const FEW_PROBLEMS = 20; // resampling so few gives intervals that are too narrow

// How many submissions have a property, and which group has the largest share of them.
function share(view, rows, name) {
  const all = (of) => of.n + of.je;
  const [count, total] = [sum(rows.map(([, of]) => of[name])), sum(rows.map(([, of]) => all(of)))];
  const most = rows.reduce((one, other) => (other[1][name] * all(one[1]) > one[1][name] * all(other[1]) ? other : one));
  const where = rows.length > 1 && count < total ? ` (most in ${view.summary.groups[most[0]]}: ${most[1][name].toLocaleString("en")} of ${all(most[1]).toLocaleString("en")})` : "";
  return count ? `${count.toLocaleString("en")} of ${counted(total, "submission")}${where}` : "";
}

// Warnings about the table of groups.
function warnings(view, rows) {
  const [copies, targeted] = ["copies", "targeted"].map((name) => share(view, rows, name));
  const names = namesOf(view);
  const hasOther = rows.some(([group]) => hasOthers(view, group, rows[0][0]));
  return [
    hasOther ? "Groups have different problems: each mean is over the group's own problems, so neither the order nor the means say which group is better. `ioi-eval compare --by-problem` compares two groups on their common problems." : null,
    targeted ? `Written for one subtask: ${targeted}. ${capital(names.mean)}, pass@1 and pass@k are of whole problems all the same: they depend on which subtasks a group's submissions were written for.` : null,
    copies ? `Copies: ${copies}. A copy has the same program as another submission, and its result. It counts like any other submission.` : null,
    !isApps(view) && !view.summary.contests.length ? "No medals, ranks or percentiles: no standings of this contest were given. `ioi-eval report DIR --standings FILE` adds them." : null,
  ].filter(Boolean);
}

const SCORED = "Scored submissions: all but those with a judge error (JE). A judge error is a failure of ours or of a checker: such a submission has no score and is in no mean. If all submissions to some problem have one, a contest has no mean, and APPS that of the other problems. A contest with a problem that is worth no points has pass@1 and no mean score.";

// How to read the table of groups.
function intervalNotes(view) {
  const count = view.problems.length;
  const names = namesOf(view);
  const together = isApps(view) ? "the best submission to a problem" : "all submissions to a problem; each subtask counts with the most points that one of them has for it";
  const sentences = [
    `${capital(names.mean)}: the mean over problems of the mean over a problem's submissions.`,
    `${capital(names.solved)}: the same for the share of submissions with ${isApps(view) ? "all tests passed" : "full marks"}.`,
    `${capital(isApps(view) ? names.best : names.all)}: of ${together}. Mean over problems.`,
  ];
  if (!view.hasIntervals) return [...sentences, "There are no intervals: submissions are still to be judged, and the judged ones are not a random sample.", SCORED];
  sentences.push(count < LEAST_PROBLEMS ? `With fewer than ${LEAST_PROBLEMS} problems there are no intervals.` : `In brackets: 95 % intervals (bootstrap over problems, ${DRAWS.toLocaleString("en")} resamples).`);
  const isTested = view.groups.length > 1 && count >= LEAST_PROBLEMS;
  if (count > 1 && view.groups.length > 1) sentences.push(`Differences are paired by problem.${isTested ? " A difference is significant if its interval does not contain 0 and a randomisation test (sign flips) has p < 0.05; this is not corrected for comparing several groups." : ""}`);
  if (count >= LEAST_PROBLEMS) sentences.push(`Intervals say how much depends on which problems were chosen, not on which submissions a model happened to write.${count < FEW_PROBLEMS ? ` With ${count} problems they are rough, and rather too narrow.` : ""}`);
  return [...sentences, SCORED];
}

function overview(view) {
  const rows = view.groups.map((group) => [group, numbersOf(view, group)]);
  rows.sort((a, b) => (b[1].score?.value ?? -1) - (a[1].score?.value ?? -1));
  const first = rows.length ? rows[0][0] : -1;
  const names = namesOf(view);
  const named = (measure) => `${names[measure]}, ${unitOf(view, measure)}`;
  const head = ["group", named("mean"), "difference to the first, percentage points", named("solved"), named(isApps(view) ? "best" : "all"), "problems", "scored submissions", "judge errors (JE)", "near the time limit"];
  const cells = rows.map(([group, of]) => [
    view.summary.groups[group], withInterval(of.score), rows.length > 1 ? behind(view, group, first) : "–", withInterval(of.solved), percent(of.together),
    ...[of.problems, of.n, of.je, of.near].map((count) => count.toLocaleString("en")),
  ]);
  return [
    table(`Groups, the best ${names.mean} first`, head, cells, { className: "sticky" }),
    el("ul", { class: "quiet" }, [...intervalNotes(view), ...(rows.length ? warnings(view, rows) : [])].map((note) => el("li", {}, note))),
  ];
}

const WAYS = ["best submission to each problem", "sum of best subtasks, 50 submissions to each problem", "sum of best subtasks, all submissions"];

function contestTables(view) {
  const shown = view.summary.contests.map((contest) => {
    const medals = Object.entries(contest.cutoffs).map(([medal, least]) => `${medal} ${points(least)}`).join(", ");
    const ranked = contest.groups.filter((of) => view.groups.includes(of.group));
    if (!ranked.length) return el("p", {}, `No selected group has submissions to ${contest.name}.`);
    const hasNotes = ranked.some((of) => of.note);
    const rows = ranked.map((of) => [view.summary.groups[of.group], ...of.ways, ...(hasNotes ? [of.note] : [])]);
    const among = contest.contestants ? `, ${medals ? "medal, " : ""}rank and percentile among the ${counted(contest.contestants, "contestant")} of ${contest.name}` : ` and medal in ${contest.name}`;
    const { ways: [, roundRobin], meaning } = ranked[0];
    return [
      table(`Points${among}, the most points first`, ["group", ...WAYS, ...(hasNotes ? ["note"] : [])], rows, { left: 5, className: "sticky" }),
      el("p", {}, meaning ? `How to read it: "${roundRobin}". ${meaning}` : "The contestants' points are not known, only those needed for medals: so there is no rank."),
      el("p", { class: "quiet" }, `${medals ? `Points needed for medals: ${medals}. ` : ""}Source: ${contest.source}`),
    ];
  });
  return [shown, el("p", { class: "quiet" }, "Sum of best subtasks: each subtask counts with the most points that one of the submissions has for it. The 50 are chosen without knowing their scores: the subtasks they were written for take turns, the last subtask first. Groups are not counted among the contestants; a group shares the rank of contestants with as many points.")];
}

function heatValue(view, cells, measure) {
  const judged = scored(view, cells.filter(Boolean));
  const values = measure === "solved" ? judged.map((cell) => cell.solved / cell.n) : known(judged, measure);
  return values.length ? mean(values) : null;
}

const ORDERS = { listed: "as they are listed", hardest: "hardest first", easiest: "easiest first" };
const MAX_NAMED = 3;

function meanOfKnown(values) {
  const known = values.filter((value) => value !== null);
  return known.length ? mean(known) : null;
}

// Problems, or years or difficulties, with their value for each group and the mean over the groups.
function heatRows(view, state, byBucket) {
  const { problems, groups, summary } = view;
  const buckets = [...new Set(problems.map((index) => summary.problems[index].bucket))];
  const rows = byBucket
    ? buckets.map((name) => ({ name: name || "unknown", problems: problems.filter((index) => summary.problems[index].bucket === name) }))
    : problems.map((index) => ({ name: problemName(summary.problems[index]), problems: [index], index }));
  for (const row of rows) {
    row.values = groups.map((group) => heatValue(view, row.problems.map((problem) => view.cell(group, problem)), state.measure));
    row.all = meanOfKnown(row.values);
  }
  const sign = { hardest: 1, easiest: -1 }[state.order];
  // Unknown values are last in both directions.
  return sign ? rows.sort((a, b) => (a.all === null) - (b.all === null) || sign * (a.all - b.all)) : rows;
}

// A sentence about the lowest and the highest rows, or that all are equal; empty for fewer than two rows.
function hardest(rows, what, measure) {
  const known = rows.filter((row) => row.all !== null);
  const [least, most] = [Math.min(...known.map((row) => row.all)), Math.max(...known.map((row) => row.all))];
  if (known.length < 2) return null;
  if (least === most) return el("p", { id: "hardest" }, `No ${what} is hardest: all have the same ${measure}, ${percent(least)}.`);
  const named = (value) => {
    const names = known.filter((row) => row.all === value).map((row) => row.name);
    const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
    return `${names.slice(0, MAX_NAMED).join(", ")}${more} (${measure} ${percent(value)})`;
  };
  return el("p", { id: "hardest" }, el("strong", {}, `Hardest ${what}: `), `${named(least)}. `, el("strong", {}, `Easiest ${what}: `), `${named(most)}.`);
}

function heatCell(value, judgeErrors) {
  const note = judgeErrors ? el("small", {}, `JE ${judgeErrors}`) : null;
  if (value === null) return el("td", {}, "–", note);
  return el("td", {
    "--cell": `color-mix(in oklab, var(--heat-high) ${Math.round(100 * value)}%, var(--heat-low))`,
    "--ink-in-light": value >= 0.685 ? "#fff" : "#000", // where white and black are equally easy to read
    "--ink-in-dark": value <= 0.565 ? "#fff" : "#000",
  }, rounded(100 * value, 0), note);
}

function heat(view, state, show) {
  const { groups, summary } = view;
  const hasBuckets = new Set(summary.problems.map((problem) => problem.bucket)).size > 1;
  const byBucket = hasBuckets && (state.rows === "buckets" || (state.rows === "auto" && view.problems.length > MAX_HEAT_ROWS));
  const rows = heatRows(view, state, byBucket);
  const hasMean = groups.length > 1;
  const select = (id, label, name, options, chosen) => el("label", { class: "above" }, label,
    el("select", { id, onchange: (event) => { state[name] = event.target.value; show(); } },
      Object.entries(options).map(([value, text]) => el("option", { value, selected: value === chosen }, text))));
  const names = namesOf(view);
  const what = byBucket ? bucketWord(view) : "problem";
  const caption = `${capital(names[state.measure])}, ${unitOf(view, state.measure)}, by ${what} and group`;
  const ofAll = groups.map((group) => heatValue(view, view.of(group), state.measure));
  const line = (head, values, all, judgeErrors) => el("tr", {}, el("th", { scope: "row" }, head),
    hasMean ? heatCell(all, 0) : null, values.map((value, index) => heatCell(value, judgeErrors(groups[index]))));
  const errors = (row) => (group) => sum(row.problems.map((problem) => view.cell(group, problem)?.je ?? 0));
  return [
    el("div", { class: "row no-print" },
      select("heat-measure", "Show", "measure", names, state.measure),
      hasBuckets ? select("heat-rows", "Rows", "rows", { problems: "problems", buckets: isApps(view) ? "difficulties" : "years" }, byBucket ? "buckets" : "problems") : null,
      select("heat-order", "Order", "order", ORDERS, state.order)),
    hardest(rows, what, names[state.measure]),
    scrolling(caption,
      el("table", { class: "heat sticky" },
        captioned(caption),
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, what), hasMean ? el("th", { scope: "col" }, "mean of the groups") : null,
          groups.map((group) => el("th", { scope: "col" }, summary.groups[group])))),
        el("tbody", {}, rows.slice(0, MAX_ROWS).map((row) => line(
          row.index === undefined ? `${row.name} (${counted(row.problems.length, "problem")})`
            : el("button", { class: "link", title: "Show its submissions", onclick: () => view.showProblem?.(row.index) }, row.name),
          row.values, row.all, errors(row)))),
        !byBucket && rows.length > 1 ? el("tfoot", {}, line("mean of the problems", ofAll, meanOfKnown(ofAll), () => 0)) : null)),
    rows.length > MAX_ROWS ? el("p", { class: "quiet" }, `The first ${MAX_ROWS} of ${rows.length} problems.`) : null,
  ];
}

const DRAWN = "number of submissions, k";

// Only values of k for which every problem has k scored submissions; otherwise means would be of different problems.
function curve(view, group, value) {
  const cells = scored(view, view.of(group));
  if (!cells.length) return [];
  const least = Math.min(...cells.map((cell) => cell.n));
  return view.summary.ks.map((k, index) => [k, index]).filter(([k]) => k <= least)
    .map(([k, index]) => [k, cells.map((cell) => value(cell, k, index))]).filter(([, values]) => !values.includes(undefined))
    .map(([k, values]) => [k, estimate(values, view.hasIntervals)]);
}

const lines = (view, value) => view.groups.map((group) => ({ group, name: view.summary.groups[group], values: curve(view, group, value) }));

// Notes about curves; one says that a curve ends early, if one does.
function curvesNote(view) {
  const counts = view.groups.map((group) => view.of(group).map((cell) => cell.n).filter((n) => n > 0)).filter((ns) => ns.length);
  const most = Math.max(...counts.map((ns) => Math.max(...ns)));
  const isCut = counts.some((ns) => view.summary.ks.some((k) => k > Math.min(...ns) && k <= most));
  const least = Math.min(...counts.map((ns) => Math.min(...ns)));
  const end = isCut ? "A curve ends at the largest k for which all its problems have k scored submissions. "
    : counts.length ? `No curve goes beyond k = ${least.toLocaleString("en")}: some problem has only ${counted(least, "scored submission")} of a group. ` : "";
  const whole = counts.some((ns) => view.summary.ks.includes(Math.min(...ns))) ? "Where k is the number of a problem's submissions, all of them are drawn, and 100 % [100.0, 100.0] means only that they reach it in each problem. " : "";
  const isTargeted = view.groups.some((group) => view.of(group).some((cell) => cell.targeted));
  return `${end}${whole}${isTargeted ? "Submissions that were written for one subtask count too. " : ""}${view.hasIntervals && view.problems.length >= LEAST_PROBLEMS ? "Bands: 95 % intervals over problems." : ""}`;
}

function scoreCurves(view) {
  const union = lines(view, (cell, k, index) => cell.union?.[index]);
  const single = lines(view, (cell, k, index) => cell.single?.[index]);
  if (isApps(view)) {
    return [lineChart("Best of k submissions: mean over problems, % of tests passed", DRAWN, single), el("p", { class: "quiet" }, curvesNote(view))];
  }
  return [
    el("div", { class: "charts" },
      el("div", {}, el("h3", {}, "Sum of best subtasks"), lineChart("Sum of best subtasks of k submissions: mean over problems, % of full marks", DRAWN, union)),
      el("div", {}, el("h3", {}, "Best submission"), lineChart("Best of k submissions: mean over problems, % of full marks", DRAWN, single))),
    el("p", { class: "quiet" }, "Mean over all choices of k of a problem's submissions; computed exactly, not sampled. For k = 1 both are the mean score. ", curvesNote(view)),
  ];
}

function passCurves(view) {
  const title = "pass@k: the chance that one of k submissions solves a problem, mean over problems, %";
  return [lineChart(title, DRAWN, lines(view, (cell, k) => passAt(cell.n, cell.solved, k))), el("p", { class: "quiet" }, `A submission solves a problem if it has ${isApps(view) ? "passed all tests" : "full marks"}. Unbiased estimator. `, curvesNote(view))];
}

function subtaskBars(view, state, show) {
  const rowsOf = (problem, part) => view.groups.map((group) => [group, view.cell(group, problem)]).filter(([, cell]) => cell?.parts).map(([group, cell]) => {
    const full = view.summary.problems[problem].subtasks[part][1];
    const [average, best] = cell.parts[part];
    return { group, name: view.summary.groups[group], value: Math.min(1, average / full), best: Math.min(1, best / full), text: `${points(average)} of ${points(full)} points` };
  });
  const problems = view.problems.filter((index) => view.summary.problems[index].subtasks.length > 1);
  if (!problems.length) {
    const cells = [...new Set(view.problems.map((index) => view.summary.problems[index].bucket))];
    return [el("p", { class: "quiet" }, `These problems have no subtasks; the bars are by ${bucketWord(view)}.`), barChart(`${capital(namesOf(view).mean)} by ${bucketWord(view)}, ${unitOf(view, "mean")}`,
      cells.map((bucket) => ({
        name: bucket,
        rows: view.groups.map((group) => {
          const found = scored(view, view.problems.filter((index) => view.summary.problems[index].bucket === bucket).map((index) => view.cell(group, index)).filter(Boolean));
          return { group, name: view.summary.groups[group], found };
        }).filter((row) => known(row.found, "mean").length).map((row) => ({ ...row, value: mean(known(row.found, "mean")), best: mean(known(row.found, "best")), text: counted(row.found.length, "problem") })),
      })), namesOf(view))];
  }
  if (!problems.includes(state.problem)) state.problem = problems[0];
  const chosen = view.summary.problems[state.problem];
  return [
    el("label", { class: "above no-print" }, "Problem", el("select", { id: "subtask-problem", onchange: (event) => { state.problem = Number(event.target.value); show(); } },
      problems.map((index) => el("option", { value: index, selected: index === state.problem }, problemName(view.summary.problems[index]))))),
    barChart(`${problemName(chosen)}: mean score by subtask, % of its points`,
      chosen.subtasks.map(([name, full], part) => ({ name: `${name} (${points(full)} points)`, rows: full > 0 ? rowsOf(state.problem, part) : [] })).filter((bar) => bar.rows.length), namesOf(view)),
  ];
}

function verdictMix(view) {
  const rows = view.groups.map((group) => {
    const counts = new Map();
    for (const cell of view.of(group)) {
      for (const [verdict, count] of Object.entries(cell.verdicts)) if (verdict !== "JE") counts.set(verdict, (counts.get(verdict) ?? 0) + count);
    }
    const parts = view.summary.verdicts.filter((verdict) => counts.has(verdict)).map((verdict) => [verdict, counts.get(verdict)]);
    return { name: view.summary.groups[group], parts, total: sum(parts.map(([, count]) => count)) };
  }).filter((row) => row.total);
  const rule = isApps(view)
    ? "A submission has the verdict of its first test that failed: other tests may have failed in other ways."
    : "A submission has the worst verdict of its subtasks, in this order: NC, CE, SV, RE, WA, OLE, MLE, TLE, PA, AC. One that is wrong in one subtask and too slow in another is WA, also if it has points.";
  return rows.length ? [stackedBars("Verdicts of scored submissions", rows, view), el("p", { class: "quiet" }, rule)] : [el("p", { class: "quiet" }, "No submission was scored.")];
}

// How many submissions the charts of time and memory contain.
function ranNote(view, charts) {
  const all = sum(view.groups.flatMap((group) => view.of(group).map((cell) => cell.n + cell.je)));
  const ran = charts.map(([, label, rows]) => `${label}: ${sum(rows.flatMap((row) => row.bins)).toLocaleString("en")} of ${counted(all, "submission")}`);
  return `${ran.join("; ")}. Left out are those of which nothing ran (NC, CE), and those whose limit is not known.`;
}

function limits(view) {
  const of = (name) => view.groups.map((group) => {
    const bins = BINS.map((_, bin) => sum(view.of(group).map((cell) => cell[name]?.[bin] ?? 0)));
    return { group, name: view.summary.groups[group], bins };
  }).filter((row) => sum(row.bins));
  const charts = [["time", "CPU time"], ["memory", "Peak memory"]].map(([name, label]) => [name, label, of(name)]).filter(([, , rows]) => rows.length);
  if (!charts.length) return [el("p", { class: "quiet" }, "Nothing ran, or the limits are not known: summary.json has them, which was not beside these results or is of an earlier version.")];
  return [
    el("div", { class: "charts" }, charts.map(([name, label, rows]) => el("div", {}, el("h3", {}, label), limitChart(`${label} of ${name === "time" ? "the slowest test" : "the test that used the most"}, % of submissions that ran`, rows, name === "time")))),
    el("ul", { class: "legend" }, charts[0][2].map((row) => el("li", {}, mark(row.group), row.name))),
    el("p", { class: "quiet" }, "Each submission counts once: with the CPU time of its slowest test, and with the memory of the test that used the most. A program that was stopped counts with what it had used until then. The bars of a tenth are in the order of this legend."),
    el("p", { class: "quiet" }, ranNote(view, charts)),
  ];
}

function apart(view) {
  const rows = [];
  for (const group of view.groups) {
    for (const problem of view.problems) {
      const cell = view.cell(group, problem);
      if (cell && (cell.je || cell.near)) rows.push([view.summary.groups[group], problemName(view.summary.problems[problem]), cell.je, cell.near, cell.n]);
    }
  }
  rows.sort((a, b) => b[2] - a[2] || b[3] - a[3]);
  const refused = view.summary.refused;
  const list = rows.slice(0, 50).map((row) => row.map(String));
  return [
    rows.length ? table("Judge errors, and near the time limit", ["group", "problem", "judge errors (JE)", "near the time limit", "scored submissions"], list, { left: 2 })
      : el("p", {}, "No judge error, and no CPU time near the time limit."),
    rows.length > 50 ? el("p", { class: "quiet" }, `The first 50 of ${rows.length}.`) : null,
    el("p", { class: "quiet" }, "A CPU time near the time limit: another machine, or another run, may give another verdict."),
    refused ? el("p", {}, `${counted(refused, "row")} could not be judged at all: they are in the table of submissions as "not judged".`) : null,
    el("p", { class: "row no-print" },
      el("button", { disabled: rows.every((row) => !row[2]), onclick: () => view.showOnly?.("JE", false) }, "Show judge errors"),
      el("button", { disabled: rows.every((row) => !row[3]), onclick: () => view.showOnly?.("", true) }, "Show those near the time limit")),
  ];
}

// Checks: what to check and how, how far it is, and what came of it.

import { ask, listen } from "./api.js";
import { byId, bytes, counted, figure, make, say } from "./dom.js";

/** So often those who cannot see the figures are told them. */
const TELLING = 5000;

const VERDICTS = {
  verified: ["verified", "good"],
  violated: ["violated", "bad"],
  incomplete: ["not complete", "doubt"],
  error: ["error", "bad"],
};

/** Options of a list to choose from. */
export function options(select, names) {
  select.replaceChildren(...names.map(([value, text]) => make("option", { value }, text)));
}

/** Runs one check; `hear(name, data)` is told of it. Gives what stops it. */
export function begin(request, hear) {
  const run = { id: null, leave: new AbortController(), done: null };
  const note = (name, data) => {
    if (name === "run") run.id = data.id;
    hear(name, data);
  };
  run.done = listen("check", request, note, run.leave.signal);
  run.stop = () => (run.id ? ask("stop", { id: run.id }).catch(() => {}) : run.leave.abort());
  return run;
}

export class Checks {
  constructor({ source, select, chart, simulation, editor }) {
    Object.assign(this, { source, select, chart, simulation, editor });
    this.properties = [];
    this.running = null;
    this.left = new Set();
    this.taken = new Set();
    byId("check").addEventListener("click", () => this.run());
    byId("stop").addEventListener("click", () => this.stop());
  }

  /** The choices there are. */
  begin({ searches, guides, fairness, seconds }) {
    options(byId("search"), searches.map((name) => [name, name]));
    const named = guides.map(({ name, idea }) => [name, `${name}: ${idea}`]);
    options(byId("guide"), [["", "chosen for the property"], ...named]);
    options(byId("fairness"), fairness.map((name) => [name, name]));
    byId("seconds").max = seconds;
    byId("seconds").value = Math.min(seconds, 60);
  }

  /** Shows what can be checked; what the user chose stays chosen. */
  offer(properties) {
    const key = ({ kind, text }) => `${kind} ${text}`;
    if (properties.map(key).join("\n") === this.properties.map(key).join("\n")) return;
    this.properties = properties;
    const rows = properties.map((property) => {
      const checked = property.usual ? !this.left.has(key(property)) : this.taken.has(key(property));
      const box = make("input", { type: "checkbox", checked });
      box.addEventListener("change", () => {
        const unusual = property.usual ? this.left : this.taken;
        unusual[box.checked === property.usual ? "delete" : "add"](key(property));
      });
      return make("li", {}, make("label", {}, box, ` ${property.label}`), make("span", { class: "badge", hidden: true }));
    });
    byId("properties").replaceChildren(...rows);
  }

  /** How to check, as the workbench wants it. */
  manner() {
    const seconds = Number(byId("seconds").value);
    return {
      guide: byId("guide").value || null,
      fairness: byId("fairness").value,
      shortest: byId("shortest").checked,
      symmetry: byId("symmetry").checked,
      seconds: seconds > 0 ? seconds : null,
    };
  }

  async run() {
    if (this.running) return;
    this.select("check");
    const rows = [...byId("properties").children];
    const chosen = this.properties.flatMap((property, at) => {
      const row = rows[at];
      const badge = row.querySelector(".badge");
      badge.hidden = true;
      return row.querySelector("input").checked ? [{ property, badge }] : [];
    });
    byId("results").replaceChildren();
    const source = this.source();
    if (!chosen.length) {
      this.conclude(this.properties.length ? "Choose a property to check." : "The model has errors.", "bad");
      return;
    }
    const properties = chosen.map(({ property }) => property);
    const request = { source, properties, search: byId("search").value, ...this.manner() };
    this.conclude("Checking …", "");
    this.busy(true);
    const verdicts = [];
    let ended = false;
    let told = Date.now();
    const hear = (name, data) => {
      if (name === "property") {
        this.show(chosen[data.index].badge, "checking …", "");
      } else if (name === "progress") {
        const text = far(data);
        byId("progress").querySelector("span").textContent = text;
        if (Date.now() - told > TELLING) {
          told = Date.now();
          say(text);
        }
      } else if (name === "verdict") {
        const { property, badge } = chosen[data.index];
        verdicts.push(data.report.verdict);
        this.show(badge, ...VERDICTS[data.report.verdict]);
        byId("results").append(this.result(property, data.report, source));
      } else if (name === "problem") {
        ended = true;
        this.conclude(data.message, "bad");
        if (data.marks?.length) this.editor.mark(data.marks);
      } else if (name === "end") {
        ended = true;
        this.conclude(...sum(verdicts, chosen.length));
      }
    };
    try {
      this.running = begin(request, hear);
      await this.running.done;
      if (!ended) this.conclude("The check ended without a word; see what `spinward serve` printed.", "bad");
    } catch (problem) {
      const left = problem.name === "AbortError";
      this.conclude(left ? "Stopped." : problem.message, left ? "doubt" : "bad");
    } finally {
      this.running = null;
      this.busy(false);
      for (const { badge } of chosen) if (badge.textContent === "checking …") badge.hidden = true;
    }
  }

  stop() {
    this.running?.stop();
  }

  busy(busy) {
    const had = document.activeElement;
    byId("check").disabled = busy;
    byId("stop").disabled = !busy;
    byId("progress").hidden = !busy;
    byId("progress").querySelector("span").textContent = "";
    // The button that had the focus is gone; the other one is next.
    if (had === byId("check") && busy) byId("stop").focus();
    if (had === byId("stop") && !busy) byId("check").focus();
  }

  show(badge, text, kind) {
    badge.className = `badge ${kind}`;
    badge.textContent = text;
    badge.hidden = false;
  }

  conclude(text, kind) {
    const verdict = byId("verdict");
    verdict.className = `verdict ${kind}`;
    verdict.textContent = text;
  }

  /** What came of checking a property. */
  result(property, report, source) {
    const { statistics } = report;
    const [word, kind] = VERDICTS[report.verdict];
    const title = make("h4", {}, make("span", { class: kind }, word), `: ${property.label}`);
    const counts = `${counted(statistics.states, "state")}, ${counted(statistics.transitions, "transition")}, ${bytes(statistics.peak_memory)}, ${statistics.seconds.total.toFixed(2)} s (${report.search} search)`;
    const words = [
      ...report.reasons.filter(({ code }) => code !== "errors").map(({ message }) => message),
      ...report.notes,
      report.explanation && `auto: ${report.explanation}`,
      report.unreached.length ? `${counted(report.unreached.length, "statement")} that no run comes to: ${unreached(report.unreached)}` : null,
    ];
    const notes = [counts, ...words].filter(Boolean).map((text) => make("span", { class: "note" }, text));
    const errors = report.errors.map((error) => this.error(error, source));
    return make("section", { class: `result ${report.verdict}` }, title, ...errors, ...notes);
  }

  error(error, source) {
    const length = counted(error.steps, "step");
    const kind = error.shortest ? "a shortest run of" : "a run of";
    const cycle = error.cycle_start == null ? "" : `, those after ${figure(error.cycle_start)} for ever`;
    const place = error.line == null ? "" : ` in line ${error.line}`;
    const run = { source, steps: error.run.steps, watched: error.run.watched };
    const title = `${error.message}${place}`;
    // A run that is too long to be shown does not come with its steps.
    const { left_out: why } = error.run;
    const button = (text, act) =>
      make("button", { type: "button", disabled: why != null, title: why, on: { click: act } }, text);
    return make("div", {},
      make("p", { class: "mono" }, title),
      make("p", {}, `There is ${kind} ${length}${cycle}.`),
      make("div", { class: "row" },
        button("Step through the run", () => this.simulation.follow(run, title)),
        button("Open the chart", () => this.chart(run, title, { verdict: [title], cycle: error.run.cycle })),
        why && make("span", { class: "note" }, why)));
  }
}

/** How far a check is, in words. */
export function far({ states, depth, seconds, rate, memory, best }) {
  // Searches without an order have no depth.
  const deep = depth ? `depth ${figure(depth)}, ` : "";
  const found = best == null ? "" : `, best run ${counted(best, "step")}`;
  return `${counted(states, "state")}, ${deep}${figure(rate)} states/s, ${bytes(memory)}, ${seconds.toFixed(1)} s${found}`;
}

function unreached(all) {
  const shown = all.slice(0, 10).map(({ proctype, line, statement }) => `${proctype} line ${line} ${statement}`);
  return shown.join("; ") + (all.length > shown.length ? "; …" : "");
}

/** The verdict on all properties. */
function sum(verdicts, asked) {
  const number = (verdict) => verdicts.filter((it) => it === verdict).length;
  const violated = number("violated");
  if (violated) return [asked === 1 ? "Violated." : `Violated: ${violated} of ${asked} properties.`, "bad"];
  if (number("verified") === asked) return [asked === 1 ? "Verified." : `Verified: all ${asked} properties.`, "good"];
  return ["Nothing wrong was found, but not everything was looked at.", "doubt"];
}

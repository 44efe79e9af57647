// Simulation: a run that the user makes step by step, or one that a check found.

import { ask } from "./api.js";
import { Automata } from "./automata.js";
import { byId, counted, make } from "./dom.js";

/** Between two steps of a run that goes on by itself. */
const PACE = 400;

export class Simulation {
  constructor({ source, editor, select, chart }) {
    Object.assign(this, { source, editor, select, chart });
    this.automata = new Automata(byId("automata"));
    /** The model it is a run of, and its steps: those up to `at` are done, the others are ahead. */
    this.run = null;
    this.told = [];
    this.ends = [];
    this.at = 0;
    this.values = new Map();
    this.timer = null;
    /** Counts what was asked for: of several answers under way only the last one is wanted. */
    this.asked = 0;
    byId("restart").addEventListener("click", () => this.start());
    byId("back").addEventListener("click", () => this.go(this.before()));
    byId("forward").addEventListener("click", () => this.go(this.after()));
    byId("random").addEventListener("click", () => this.random());
    byId("play").addEventListener("click", () => (this.timer ? this.pause() : this.play()));
    byId("run-chart").addEventListener("click", () => {
      const run = { ...this.run, steps: this.run.steps.slice(0, this.at) };
      this.chart(run, `A run of ${counted(this.at, "step")}`, { verdict: this.place.wrong });
    });
  }

  /** A new run, of the text as it is now. */
  start() {
    return this.begin({ source: this.source(), steps: [] }, "The run starts here.");
  }

  /** Goes along a run that was found, from its start. */
  follow(run, title) {
    this.select("simulate", true);
    return this.begin(run, `Along the run to: ${title}`);
  }

  async begin(run, words) {
    this.pause();
    this.run = null;
    this.tell("…");
    const turn = (this.asked += 1);
    try {
      const [drawn, whole] = await Promise.all([
        ask("automata", run.source),
        ask("simulate", { run, known: 0 }),
      ]);
      if (turn !== this.asked) return;
      Object.assign(this, { run, told: whole.told, ends: whole.ends, at: 0, values: new Map() });
      this.automata.show(drawn);
      byId("restart").textContent = "Restart";
      await this.go(0, words);
    } catch (problem) {
      if (turn !== this.asked) return;
      this.tell(problem.message);
      this.enable();
    }
  }

  /** The text is not that of the run any more. */
  outdated() {
    if (this.run && this.run.source.text !== this.editor.text) {
      this.editor.light([]);
      this.tell("The model has changed since the run was started.");
    }
  }

  before() {
    return this.ends.filter((end) => end < this.at).at(-1) ?? 0;
  }

  after() {
    return this.ends.find((end) => end > this.at) ?? this.at;
  }

  /** Shows where the run is after so many steps. */
  async go(at, words = null) {
    if (!this.run) return;
    const run = { ...this.run, steps: this.run.steps.slice(0, at) };
    const known = this.told.length > at ? at : this.told.length;
    const turn = (this.asked += 1);
    try {
      const place = await ask("simulate", { run, known });
      if (turn !== this.asked) return;
      this.told.push(...place.told);
      this.ends.push(...place.ends);
      this.at = at;
      this.place = place;
      this.show(words);
    } catch (problem) {
      if (turn !== this.asked) return;
      this.pause();
      this.tell(problem.message);
    }
  }

  /** Takes a step from here; what was ahead is forgotten, unless it begins with the same step. */
  take(steps) {
    const ahead = this.run.steps.slice(this.at, this.at + steps.length);
    if (JSON.stringify(ahead) !== JSON.stringify(steps)) {
      this.run = { ...this.run, steps: [...this.run.steps.slice(0, this.at), ...steps] };
      this.told.length = this.at;
      this.ends = this.ends.filter((end) => end <= this.at);
    }
    return this.go(this.at + steps.length);
  }

  random() {
    const { moves } = this.place;
    return moves.length ? this.take(moves[Math.floor(Math.random() * moves.length)].steps) : this.pause();
  }

  play() {
    byId("play").textContent = "Pause";
    byId("play").setAttribute("aria-pressed", "true");
    const step = async () => {
      // A run that was found goes on as it was found.
      if (this.after() > this.at) await this.go(this.after());
      else await this.random();
      if (this.timer) this.timer = setTimeout(step, PACE);
    };
    this.timer = setTimeout(step, 0);
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    byId("play").textContent = "Play";
    byId("play").setAttribute("aria-pressed", "false");
  }

  tell(text, kind = "") {
    byId("where").className = kind;
    byId("where").textContent = text;
  }

  enable() {
    const on = {
      back: this.at > 0,
      forward: this.after() > this.at,
      random: this.place?.moves.length > 0,
      play: this.place?.moves.length > 0 || this.after() > this.at,
      "run-chart": this.at > 0,
    };
    for (const [id, enabled] of Object.entries(on)) byId(id).disabled = !(this.run && enabled);
  }

  show(words) {
    const { wrong, moves, processes } = this.place;
    const length = `After ${counted(this.at, "step")}`;
    if (wrong.length) this.tell(`${length}: ${wrong.join("; ")}`, "bad");
    else if (!moves.length && !processes.length) this.tell(`${length}: all processes have ended.`, "good");
    else if (!moves.length) this.tell(`${length}: nobody can move.`, "doubt");
    else this.tell(words ?? `${length}: ${counted(moves.length, "step")} possible.`);
    if (!moves.length && this.after() === this.at) this.pause();
    this.enable();
    this.showMoves(moves);
    this.showState();
    this.showRun();
    this.automata.light(processes);
    const current = this.run.source.text === this.editor.text;
    this.editor.light(current ? processes.map(({ line }) => line) : []);
    const last = this.told[this.at - 1];
    if (current && last?.line) this.editor.show(last.line);
  }

  showMoves(moves) {
    const list = byId("moves");
    const focused = list.contains(document.activeElement);
    const buttons = moves.map(({ steps, who, line, statement }) => {
      const text = [`${who} `, make("span", { class: "line" }, `line ${line} `), statement];
      const button = make("button", { type: "button", on: { click: () => this.take(steps) } }, ...text);
      button.dataset.who = who;
      return button;
    });
    list.replaceChildren(...buttons.map((button) => make("li", {}, button)));
    if (!buttons.length) list.append(make("li", {}, "none"));
    // Whoever steps by the keyboard goes on where they are.
    if (focused) (buttons[0] ?? byId("back")).focus();
  }

  showState() {
    const values = new Map(this.place.variables.map(({ name, value }) => [name, value]));
    const rows = [...values].map(([name, value]) => {
      const changed = this.values.has(name) && this.values.get(name) !== value;
      return make("tr", { class: changed && "changed" }, make("td", {}, name), make("td", {}, value));
    });
    if (this.place.left_out) rows.push(make("tr", {}, make("td", { colspan: 2 }, `and ${this.place.left_out} more`)));
    byId("state").tBodies[0].replaceChildren(...rows);
    this.values = values;
  }

  showRun() {
    const rows = this.told.map((step, index) => {
      const changes = [...step.changes, step.output && `prints: ${step.output.trim()}`].filter(Boolean);
      const cells = [step.number, step.who, step.place, step.statement, changes.join("; ")];
      const kind = index >= this.at ? "ahead" : index === this.at - 1 && "changed";
      return make("tr", { class: kind }, ...cells.map((text) => make("td", {}, String(text))));
    });
    const body = byId("run").tBodies[0];
    body.replaceChildren(...rows);
    const box = body.closest(".scroll");
    const row = rows[Math.max(0, this.at - 1)];
    if (row) box.scrollTop = row.offsetTop - box.clientHeight / 2;
  }
}

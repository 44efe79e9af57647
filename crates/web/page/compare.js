// Searches compared: how many states each needs, and how long the run is that it finds.

import { begin, far, options } from "./check.js";
import { byId, figure, make } from "./dom.js";
import { plot } from "./plot.js";

/** Compared unless the user says otherwise. */
const USUAL = ["bfs", "dfs", "astar", "greedy"];

export class Comparison {
  constructor({ source, checks }) {
    Object.assign(this, { source, checks });
    this.properties = [];
    this.running = null;
    this.stopped = false;
    byId("compare").addEventListener("click", () => (this.running ? this.stop() : this.run()));
  }

  begin({ searches }) {
    const box = (name) => make("input", { type: "checkbox", value: name, checked: USUAL.includes(name) });
    byId("searches").replaceChildren(...searches.map((name) => make("label", {}, box(name), ` ${name}`)));
  }

  offer(properties) {
    const chosen = byId("compare-property").selectedIndex;
    this.properties = properties;
    options(byId("compare-property"), properties.map(({ label }, index) => [index, label]));
    byId("compare-property").selectedIndex = Math.min(Math.max(chosen, 0), properties.length - 1);
  }

  stop() {
    this.stopped = true;
    this.running?.stop();
  }

  tell(text) {
    byId("compare-note").textContent = text;
  }

  async run() {
    const searches = [...byId("searches").querySelectorAll("input:checked")].map(({ value }) => value);
    const property = this.properties[byId("compare-property").value];
    if (!searches.length || !property) {
      this.tell(property ? "Choose some searches." : "The model has errors.");
      return;
    }
    const results = [];
    // All searches look at the same text, whatever is written meanwhile.
    const source = this.source();
    this.stopped = false;
    byId("compare").textContent = "Stop";
    byId("compared").hidden = false;
    byId("compared").tBodies[0].replaceChildren();
    for (const search of searches) {
      if (this.stopped) break;
      this.tell(`${search} …`);
      const request = { source, properties: [property], search, ...this.checks.manner() };
      const result = { search, message: null, report: null };
      const hear = (name, data) => {
        if (name === "progress") this.tell(`${search}: ${far(data)}`);
        if (name === "verdict") result.report = data.report;
        if (name === "problem") result.message = data.message;
      };
      try {
        this.running = begin(request, hear);
        await this.running.done;
      } catch (problem) {
        result.message = problem.message;
      }
      results.push(result);
      this.show(results);
    }
    this.running = null;
    byId("compare").textContent = "Compare";
    this.tell(this.stopped ? "Stopped." : results.length === 1 ? "1 search compared." : `${results.length} searches compared.`);
  }

  show(results) {
    const rows = results.map(({ search, message, report }) => {
      if (!report) return make("tr", {}, make("td", {}, search), make("td", { colspan: 4 }, message ?? "no answer"));
      const { statistics, errors, verdict } = report;
      const length = errors.length ? figure(errors[0].steps) : "none";
      const cells = [figure(statistics.states), length, statistics.seconds.total.toFixed(2)];
      const figures = cells.map((text) => make("td", { class: "figure" }, text));
      return make("tr", {}, make("td", {}, search), make("td", {}, verdict), ...figures);
    });
    byId("compared").tBodies[0].replaceChildren(...rows);
    const found = results.filter(({ report }) => report?.errors.length);
    const points = found.map(({ search, report }) => ({
      name: search,
      x: report.statistics.states,
      y: report.errors[0].steps,
    }));
    byId("plot").replaceChildren(plot(points));
  }
}

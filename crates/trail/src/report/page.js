"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const get = (id) => document.getElementById(id);
  const steps = data.rows.length;
  // How many of the steps are done; the last of them is the current one.
  let done = 0;

  // The keys of variables that ever change, and which are always shown.
  const changing = new Set(data.rows.flatMap((row) => row[4].map(([key]) => key)));

  function valuesAfter(count) {
    const values = new Map(data.start);
    for (const row of data.rows.slice(0, count)) {
      for (const [key, value] of row[4]) values.set(key, value);
    }
    return values;
  }

  function showState() {
    const values = valuesAfter(done);
    const fresh = new Set(done > 0 ? data.rows[done - 1][4].map(([key]) => key) : []);
    const owners = new Map();
    data.keys.forEach(([owner, name], key) => {
      const value = values.get(key);
      if (!value || !(get("all").checked || changing.has(key) || name === "(line)")) return;
      if (!owners.has(owner)) owners.set(owner, []);
      owners.get(owner).push([name, value, fresh.has(key)]);
    });
    const body = get("values");
    body.replaceChildren();
    const sorted = [...owners].sort(([a], [b]) => (a === "" ? -1 : b === "" ? 1 : 0));
    for (const [owner, variables] of sorted) {
      const place = variables.find(([name]) => name === "(line)");
      const head = body.insertRow();
      const cell = document.createElement("th");
      cell.colSpan = 2;
      cell.scope = "rowgroup";
      cell.textContent = owner === "" ? "global" : place ? `${owner}, at line ${place[1]}` : owner;
      head.append(cell);
      for (const [name, value, isFresh] of variables) {
        if (name === "(line)") continue;
        const row = body.insertRow();
        if (isFresh) row.className = "on";
        row.insertCell().textContent = name;
        row.insertCell().textContent = value;
      }
    }
    get("when").textContent = done === 0 ? "at the start" : `after step ${numberOf(done - 1)}`;
  }

  const rowOf = (index) => get(`step-${index}`);
  const numberOf = (index) => data.rows[index][5];

  // Moves a scrolling box just so far that an element in it is in sight.
  function reveal(element, box, head) {
    const at = element.getBoundingClientRect();
    const view = box.getBoundingClientRect();
    const room = Math.min(at.height * 3, view.height / 4);
    if (at.top - head - room < view.top) box.scrollTop += at.top - head - room - view.top;
    else if (at.bottom + room > view.bottom) box.scrollTop += at.bottom + room - view.bottom;
  }

  // Has the step in the chart seen that lies behind the table or to the left.
  function revealLane(dot, box) {
    const at = dot.getBoundingClientRect();
    const left = box.getBoundingClientRect().left + 60;
    const right = box.querySelector("table").getBoundingClientRect().left - 20;
    if (at.left < left) box.scrollLeft += at.left - left;
    else if (at.right > right) box.scrollLeft += at.right - right;
  }

  function go(to) {
    done = Math.max(0, Math.min(steps, to));
    document.querySelectorAll(".on").forEach((it) => it.classList.remove("on"));
    const index = done - 1;
    if (done > 0) {
      const [file, line, who, statement] = data.rows[index];
      rowOf(index).classList.add("on");
      get(`row-${index}`).classList.add("on");
      reveal(rowOf(index), get("run"), 34);
      revealLane(get(`dot-${index}`), get("run"));
      const section = get(`file-${file}`);
      if (section) section.classList.add("on");
      const at = get(`f${file}-${line}`);
      if (at) {
        at.classList.add("on");
        reveal(at, get("source"), 26);
      }
      const changes = rowOf(index).cells[3].textContent;
      get("now").textContent =
        `Step ${numberOf(index)}: ${who}, line ${line}: ${statement}${changes ? " — " + changes : ""}`;
    } else {
      get("file-0").classList.add("on");
      get("run").scrollTop = 0;
      get("now").textContent = "At the start";
    }
    get("slider").value = done;
    get("first").disabled = get("back").disabled = done === 0;
    get("last").disabled = get("forward").disabled = done === steps;
    showState();
  }

  document.documentElement.classList.add("scripted");
  get("slider").max = steps;
  get("slider").addEventListener("input", (event) => go(Number(event.target.value)));
  get("all").addEventListener("change", showState);
  get("first").addEventListener("click", () => go(0));
  get("back").addEventListener("click", () => go(done - 1));
  get("forward").addEventListener("click", () => go(done + 1));
  get("last").addEventListener("click", () => go(steps));
  for (let index = 0; index < steps; index++) {
    rowOf(index).addEventListener("click", () => go(index + 1));
    get(`row-${index}`).addEventListener("click", () => go(index + 1));
  }
  const keys = {
    ArrowRight: () => done + 1, j: () => done + 1,
    ArrowLeft: () => done - 1, k: () => done - 1,
    PageDown: () => done + 10, PageUp: () => done - 10,
    Home: () => 0, End: () => steps,
  };
  // In the run the arrows up and down go from step to step; elsewhere they scroll.
  const inRun = { ArrowDown: () => done + 1, ArrowUp: () => done - 1 };
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.type === "range") return;
    const inPane = event.target.closest && event.target.closest("#source, #state");
    const scrolls = event.key.startsWith("Page") || event.key === "Home" || event.key === "End";
    if (inPane && scrolls) return;
    const where = keys[event.key] || (!inPane && inRun[event.key]);
    if (!where) return;
    event.preventDefault();
    go(where());
  });
  const asked = /^#step=(\d+)$/.exec(location.hash);
  go(asked ? Number(asked[1]) : steps);
})();

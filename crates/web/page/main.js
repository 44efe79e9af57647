// Puts the parts of the page together: the text and its mistakes here, what is done with it in the other modules.

import { Refused, ask } from "./api.js";
import { Checks } from "./check.js";
import { Comparison } from "./compare.js";
import { byId, complain, counted, lines, make, tabs } from "./dom.js";
import { Editor } from "./editor.js";
import { Simulation } from "./simulate.js";

/** So long after the last change the text is read. */
const PAUSE = 250;

const select = tabs(byId("tabs"));
const editor = new Editor(() => changed());
let saved = null;
let savedText = "";
/** How lines end in the file; in the editor they end as browsers like it. */
let lineEnd = "\n";
let timer = null;
let reading = null;

/** The model and what is asked about it, as the workbench wants it. */
function source() {
  return {
    text: editor.text,
    defines: lines(byId("defines").value),
    invariants: lines(byId("invariants").value),
    formulas: lines(byId("formulas").value),
  };
}

/** Shows the report of a run, with what is wrong with it and where its cycle starts, if it has one. */
async function chart(run, title, { verdict = [], cycle = null } = {}) {
  const frame = byId("chart");
  const note = byId("chart-note");
  note.replaceChildren("Drawing the chart …");
  frame.hidden = true;
  select("chart", true);
  try {
    const { address } = await ask("chart", { run, cycle, verdict });
    const link = make("a", { href: address, target: "_blank", rel: "noopener" }, "open it in a tab of its own");
    note.replaceChildren(`${title} (`, link, ")");
    frame.src = address;
    frame.hidden = false;
  } catch (problem) {
    note.replaceChildren(problem.message);
  }
}

const simulation = new Simulation({ source, editor, select, chart });
const checks = new Checks({ source, select, chart, simulation, editor });
const comparison = new Comparison({ source, checks });

/** Under which name the text is remembered. */
const memory = () => `spinward-text ${byId("name").textContent}`;

/** Remembers a text that is not saved, with the state of the file that it was made of. */
function remember() {
  try {
    if (editor.text === savedText) sessionStorage.removeItem(memory());
    else sessionStorage.setItem(memory(), JSON.stringify({ saved, text: editor.text }));
  } catch {
    // There is no room, or it is not allowed: then nothing is remembered.
  }
}

/** The text that was remembered, if the file is as it was then. */
function remembered() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(memory()));
    return kept?.saved === saved ? kept?.text : undefined;
  } catch {
    return undefined;
  }
}

/** The text as it is written to files. */
const forFile = (text) => text.replaceAll("\n", lineEnd);

function changed() {
  byId("unsaved").hidden = saved == null || editor.text === savedText;
  remember();
  simulation.outdated();
  clearTimeout(timer);
  timer = setTimeout(read, PAUSE);
}

/** Reads the text and shows its mistakes. */
async function read() {
  reading?.abort();
  reading = new AbortController();
  try {
    const { marks, properties } = await ask("read", source(), reading.signal);
    complain(null);
    show(marks);
    if (properties.length) {
      checks.offer(properties);
      comparison.offer(properties);
    }
  } catch (problem) {
    if (problem.name !== "AbortError") complain(problem.message);
  }
}

function show(marks) {
  editor.mark(marks);
  const errors = marks.filter((mark) => mark.severity === "error").length;
  const warnings = marks.length - errors;
  const words = [errors && counted(errors, "error"), warnings && counted(warnings, "warning")];
  byId("problem-summary").textContent = words.filter(Boolean).join(", ") || "none";
  byId("problems").replaceChildren(...marks.map(problem));
}

function problem(mark) {
  const place = [mark.file, mark.line && `line ${mark.line}`].filter(Boolean).join(" ");
  const text = make("span", { class: "severity" }, mark.severity, place && ` in ${place}`);
  const more = [...mark.notes, ...mark.help.map((help) => `Help: ${help}`)];
  const notes = more.map((note) => make("span", { class: "note" }, note));
  const go = () => mark.file == null && mark.line && editor.go(mark.line, mark.column);
  const button = make("button", { type: "button", on: { click: go } }, text, `: ${mark.message}`, ...notes);
  return make("li", { class: mark.severity }, button);
}

async function save() {
  const text = editor.text;
  try {
    ({ saved } = await ask("save", { text: forFile(text), saved }));
    savedText = text;
    changed();
    complain(null);
  } catch (problem) {
    complain(problem.message);
  }
}

function download() {
  const address = URL.createObjectURL(new Blob([forFile(editor.text)], { type: "text/plain" }));
  const name = byId("name").textContent.split("/").at(-1);
  make("a", { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}

function keys(event) {
  const control = event.ctrlKey || event.metaKey;
  if (control && event.key === "Enter") {
    event.preventDefault();
    checks.run();
  } else if (control && event.key === "s" && saved != null) {
    event.preventDefault();
    save();
  } else if (event.key === "Escape") {
    checks.stop();
    comparison.stop();
  }
}

async function start() {
  let told;
  try {
    told = await ask("start");
  } catch (problem) {
    complain(problem instanceof Refused ? problem.message : String(problem));
    return;
  }
  byId("name").textContent = told.name;
  document.title = `${told.name.split("/").at(-1)} - Spinward workbench`;
  byId("defines").value = told.defines.join("\n");
  saved = told.saved;
  lineEnd = told.text.includes("\r\n") ? "\r\n" : "\n";
  savedText = told.text.replace(/\r\n?/g, "\n");
  byId("save").hidden = saved == null;
  // What was written before the page was loaded again is not lost.
  editor.text = remembered() ?? savedText;
  checks.begin(told);
  comparison.begin(told);
  byId("save").addEventListener("click", save);
  byId("download").addEventListener("click", download);
  for (const id of ["defines", "invariants", "formulas"]) byId(id).addEventListener("input", changed);
  document.addEventListener("keydown", keys);
  window.addEventListener("beforeunload", (event) => editor.text !== savedText && event.preventDefault());
  changed();
}

start();

// Small helpers for the elements of the page.

/** The element of the page with this id. */
export const byId = (id) => document.getElementById(id);

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    } else if (value === true) {
      node.setAttribute(name, "");
    } else if (value !== false && value != null) {
      node.setAttribute(name, value);
    }
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

/** A new element. Text is only ever added as text. */
export const make = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

/** A new element of a picture. */
export const draw = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/** Tells something to those who cannot see it. */
export function say(text) {
  byId("live").textContent = text;
}

/** Tells that something went wrong; nothing takes that back. */
export function complain(message) {
  const alert = byId("alert");
  alert.hidden = !message;
  alert.textContent = message ?? "";
}

const whole = new Intl.NumberFormat("en");

/** A number as people read it. */
export const figure = (number) => whole.format(Math.round(number));

/** Something so many times. */
export const counted = (number, word) => `${figure(number)} ${word}${number === 1 ? "" : "s"}`;

/** Bytes as people read them. */
export function bytes(number) {
  let value = number / 1000;
  let unit = 0;
  while (value >= 999.95 && unit < 3) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(1)} ${["kB", "MB", "GB", "TB"][unit]}`;
}

/** The lines of a text that say something. */
export const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

/** Tabs: arrows go from one to the next, as in any list of tabs. Gives what selects one. */
export function tabs(list) {
  const all = [...list.querySelectorAll("[role=tab]")];
  const select = (id, focus = false) => {
    for (const tab of all) {
      const chosen = tab.id === `tab-${id}`;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      byId(tab.getAttribute("aria-controls")).hidden = !chosen;
      if (chosen && focus) tab.focus();
    }
  };
  for (const tab of all) tab.addEventListener("click", () => select(tab.id.slice(4)));
  list.addEventListener("keydown", (event) => {
    const at = all.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    select(all[(to + all.length) % all.length].id.slice(4), true);
  });
  return select;
}

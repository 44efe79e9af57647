// A plot of searches: states to the right, on a logarithmic scale, and steps of the run upwards.

import { draw, figure, make } from "./dom.js";

const WIDTH = 560;
const HEIGHT = 300;
const EDGE = { left: 56, right: 70, top: 14, bottom: 44 };
/** About the size of a letter, and of a line of them. */
const LETTER = 7;
const LETTERS = 14;

/** A scale of round numbers for values from 0. */
function steps(most) {
  const rough = most / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].map((it) => it * power).find((it) => it >= rough));
  const count = Math.ceil(most / step) || 1;
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** The points `{name, x, y}` as a picture; the table beside it has the figures. */
export function plot(points) {
  if (!points.length) return make("p", {}, "No search found an error so far, so there is no run to compare.");
  const low = Math.floor(Math.log10(Math.max(1, Math.min(...points.map(({ x }) => x)))));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...points.map(({ x }) => x)))));
  const ys = steps(Math.max(...points.map(({ y }) => y)));
  const right = WIDTH - EDGE.right;
  const bottom = HEIGHT - EDGE.bottom;
  const across = (x) => EDGE.left + ((Math.log10(Math.max(1, x)) - low) / (high - low)) * (right - EDGE.left);
  const up = (y) => bottom - (y / ys.at(-1)) * (bottom - EDGE.top);
  const picture = draw("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img",
    "aria-label": "Plot of the searches by states and length of the run; the table has the figures",
  });
  for (let power = low; power <= high; power += 1) {
    const x = across(10 ** power);
    picture.append(
      draw("line", { class: "grid", x1: x, x2: x, y1: EDGE.top, y2: bottom }),
      draw("text", { x, y: bottom + 16, "text-anchor": "middle" }, figure(10 ** power)));
  }
  for (const y of ys) {
    picture.append(
      draw("line", { class: "grid", x1: EDGE.left, x2: right, y1: up(y), y2: up(y) }),
      draw("text", { x: EDGE.left - 6, y: up(y) + 4, "text-anchor": "end" }, figure(y)));
  }
  picture.append(
    draw("path", { class: "axis", fill: "none", d: `M${EDGE.left} ${EDGE.top}V${bottom}H${right}` }),
    draw("text", { x: (EDGE.left + right) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, "states"),
    draw("text", { x: 14, y: (EDGE.top + bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${(EDGE.top + bottom) / 2})` }, "steps of the run"));
  // Searches that agree share a dot, and their names a line; a name goes up until no other is in its way.
  const spots = [...Map.groupBy(points, ({ x, y }) => `${x} ${y}`).values()];
  const taken = [];
  for (const same of spots.sort(([one], [other]) => one.x - other.x)) {
    const [{ x, y }] = same;
    const name = same.map((point) => point.name).join(", ");
    const label = { left: across(x) + 9, right: across(x) + 9 + LETTER * name.length, y: up(y) - 7 };
    const meets = (it) => it.left < label.right && label.left < it.right && Math.abs(it.y - label.y) < LETTERS;
    while (taken.some(meets) && label.y > LETTERS) label.y -= LETTERS;
    taken.push(label);
    picture.append(
      draw("circle", { class: "dot", cx: across(x), cy: up(y), r: 6 }),
      draw("text", { x: label.left, y: label.y }, name));
  }
  return picture;
}

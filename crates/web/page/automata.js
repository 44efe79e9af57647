// Pictures of the automata, in which the states are lit where processes are.

import { draw, make } from "./dom.js";

export class Automata {
  constructor(place) {
    this.place = place;
    this.pictures = [];
  }

  /** Shows the pictures that the workbench drew. */
  show(drawn) {
    const parser = new DOMParser();
    this.pictures = drawn.map(({ title, svg }) => {
      const picture = document.importNode(parser.parseFromString(svg, "image/svg+xml").documentElement, true);
      picture.setAttribute("role", "img");
      const caption = make("figcaption");
      return { title, picture, caption, figure: make("figure", {}, caption, picture) };
    });
    this.place.replaceChildren(...this.pictures.map(({ figure }) => figure));
  }

  /** Lights the states where processes are. */
  light(processes) {
    this.pictures.forEach(({ title, picture, caption }, automaton) => {
      for (const old of picture.querySelectorAll(".pids")) old.remove();
      for (const old of picture.querySelectorAll(".lit")) old.classList.remove("lit");
      const here = processes.map((process, pid) => ({ ...process, pid })).filter((it) => it.automaton === automaton);
      const states = Map.groupBy(here, ({ state }) => state);
      for (const [state, those] of states) {
        const node = picture.querySelector(`[data-state="${state}"]`);
        if (!node) continue;
        node.classList.add("lit");
        const x = Number(node.getAttribute("x")) + Number(node.getAttribute("width")) + 5;
        const y = Number(node.getAttribute("y")) + 16;
        const names = those.map(({ pid }) => pid);
        const text = names.length > 6 ? `${names.slice(0, 5)},…` : `${names}`;
        node.after(draw("text", { class: "pids", x, y }, `◂${text}`));
      }
      const where = here.map(({ name, state }) => `${name} in state ${state}`).join(", ");
      caption.textContent = where ? `${title}: ${where}` : title;
      const told = here.map(({ name, state, at }) => `${name} in state ${state}, ${at}`).join("; ");
      picture.setAttribute("aria-label", `Automaton of ${title}${told && `: ${told}`}`);
    });
  }
}

/* An element under the pointer, or selected by a click, a tap or the focus, marks the elements that it lists in
   data-own (its own elements) and data-near (the elements below those). A rule also shows its features. Only one
   section is shown at a time. */
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const sections = [...document.querySelectorAll("section")];
let shown = sections[0], selected = null, marked = [];

function makeElement(tag, text, ...children) {
  const element = document.createElement(tag);
  element.append(text, ...children);
  return element;
}

function number(value) {
  const rounded = Math.round(value * 1000) / 1000 + 0;
  return rounded.toLocaleString("en-US", { minimumFractionDigits: 3, maximumFractionDigits: 3 });
}

function fillPanel(panel, row) {
  const [where, features] = data.rules[row.dataset.rule];
  const rows = features.map(([name, value]) => {
    const weight = data.weights && data.weights[name];
    const more = data.weights ? [String(Number(weight.toPrecision(6))), number(value * weight)] : [];
    return makeElement("tr", "", ...[data.features[name], number(value), ...more].map(text => makeElement("td", text)));
  });
  const heads = ["feature", "value", ...(data.weights ? ["weight", "product"] : [])];
  const table = makeElement("table", "", makeElement("tr", "", ...heads.map(text => makeElement("th", text))), ...rows);
  if (data.weights) {
    const sum = features.reduce((total, [name, value]) => total + value * data.weights[name], 0);
    const last = makeElement("tr", "", ...["score", "", "", number(sum)].map(text => makeElement("td", text)));
    last.className = "sum";
    table.append(last);
  }
  const close = makeElement("button", "×");
  close.setAttribute("aria-label", "close");
  close.onclick = release;
  const head = (row.querySelector(".head") || row.parentNode.querySelector(".head")).cloneNode(true);
  const place = makeElement("p", where);
  place.className = "dim";
  const sides = row.querySelector(".sides").cloneNode(true);
  panel.replaceChildren(close, makeElement("p", head), makeElement("p", sides), place, table);
  panel.hidden = false;
}

function scrollIntoSight(words) {
  const boxes = words ? ["own", "near"].map(kind => [...words.querySelectorAll(".word." + kind)]) : [[], []];
  const rectangles = (boxes[0].length ? boxes[0] : boxes[1]).map(word => word.getBoundingClientRect());
  if (!rectangles.length) return;
  const view = words.getBoundingClientRect();
  const left = Math.min(...rectangles.map(box => box.left)) - 12, right = Math.max(...rectangles.map(box => box.right)) + 12;
  if (left >= view.left && right <= view.right) return;
  const wide = right - left > view.width;
  words.scrollBy({ left: wide ? left - view.left : (left + right - view.left - view.right) / 2 });
}

function show(item) {
  for (const [element, kind] of marked) element.classList.remove(kind);
  marked = ["own", "near"].flatMap(kind => (item.dataset[kind] || "").split(" ")
    .map(name => [document.getElementById(shown.id + "-" + name), kind]).filter(([element]) => element));
  for (const [element, kind] of marked) element.classList.add(kind);
  if ("rule" in item.dataset) {
    fillPanel(shown.querySelector(".panel"), item);
    scrollIntoSight(shown.querySelector(".words"));
  }
}

/* The tabulator key leads to one rule of a page, arrow keys to the others. */
function setTabStop(row) {
  for (const other of shown.querySelectorAll("[data-rule][tabindex='0']")) other.tabIndex = -1;
  row.tabIndex = 0;
}

function select(row) {
  release();
  selected = row;
  row.setAttribute("aria-selected", "true");
  setTabStop(row);
  show(row);
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function release() {
  if (selected) selected.removeAttribute("aria-selected");
  for (const [element, kind] of marked) element.classList.remove(kind);
  for (const panel of shown.querySelectorAll(".panel")) panel.hidden = true;
  selected = null;
  marked = [];
}

function route() {
  release();
  shown = sections.find(section => "#" + section.id === location.hash) || sections[0];
  for (const section of sections) section.hidden = section !== shown;
  const rule = shown.querySelector("[data-rule]");
  if (rule) setTabStop(rule);
}

document.onpointerover = event => {
  /* Fingers select by clicks only: otherwise a panel could open under the finger and get the click. */
  if (event.pointerType !== "mouse") return;
  const item = event.target.closest("[data-own]");
  if (item) show(item);
  else if (selected) show(selected);
};
document.onclick = event => {
  if (event.target.closest(".panel, nav")) return;
  const item = event.target.closest("[data-own]");
  const rule = item && item.dataset.own.split(" ").find(name => name[0] === "r");
  if (item && "rule" in item.dataset) select(item);
  else if (rule) select(document.getElementById(shown.id + "-" + rule));
  else if (!item) release();
};
/* For the keyboard only: with a pointer the page would scroll before the click and miss its target. */
document.addEventListener("focusin", event => {
  if (event.target !== selected && event.target.matches("[data-rule]:focus-visible")) select(event.target);
});
document.onkeydown = event => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  /* The outer links lead to sentences, the inner links to derivations. */
  const sideways = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (event.key === "Escape") release();
  else if (sideways && !event.target.matches(".scroll, .graph")) {
    const links = [...shown.querySelectorAll(`nav a[rel=${sideways}]`)];
    links.at(event.shiftKey === (sideways === "prev") ? 0 : -1)?.click();
  } else if (step && "rule" in event.target.dataset) {
    const rows = [...shown.querySelectorAll("[data-rule]")];
    rows[rows.indexOf(event.target) + step]?.focus();
    event.preventDefault();
  }
};
onhashchange = route;
route();

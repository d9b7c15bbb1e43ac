/* What is pointed at, or held by a click, a tap or the focus, marks what it names in data-own (what belongs to it)
   and data-near (what is below that); a rule also shows its features. Of several sections one is shown. */
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const sections = [...document.querySelectorAll("section")];
let shown = sections[0], held = null, marked = [];

function made(tag, text, ...children) {
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
    const more = data.weights ? [String(weight), number(value * weight)] : [];
    return made("tr", "", ...[data.features[name], number(value), ...more].map(text => made("td", text)));
  });
  const heads = ["feature", "value", ...(data.weights ? ["weight", "product"] : [])];
  const table = made("table", "", made("tr", "", ...heads.map(text => made("th", text))), ...rows);
  if (data.weights) {
    const sum = features.reduce((total, [name, value]) => total + value * data.weights[name], 0);
    const last = made("tr", "", ...["score", "", "", number(sum)].map(text => made("td", text)));
    last.className = "sum";
    table.append(last);
  }
  const close = made("button", "×");
  close.setAttribute("aria-label", "close");
  close.onclick = release;
  const head = (row.querySelector(".head") || row.parentNode.querySelector(".head")).cloneNode(true);
  const place = made("p", where);
  place.className = "dim";
  const sides = row.querySelector(".sides").cloneNode(true);
  panel.replaceChildren(close, made("p", head), made("p", sides), place, table);
  panel.hidden = false;
}

function intoSight(words) {
  const boxes = words ? ["own", "near"].map(kind => [...words.querySelectorAll(".word." + kind)]) : [[], []];
  const found = (boxes[0].length ? boxes[0] : boxes[1]).map(word => word.getBoundingClientRect());
  if (!found.length) return;
  const view = words.getBoundingClientRect();
  const left = Math.min(...found.map(box => box.left)) - 12, right = Math.max(...found.map(box => box.right)) + 12;
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
    intoSight(shown.querySelector(".words"));
  }
}

/* By the tabulator key one comes to one rule of a page, by arrow keys to the others. */
function reachable(row) {
  for (const other of shown.querySelectorAll("[data-rule][tabindex='0']")) other.tabIndex = -1;
  row.tabIndex = 0;
}

function hold(row) {
  release();
  held = row;
  row.setAttribute("aria-selected", "true");
  reachable(row);
  show(row);
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function release() {
  if (held) held.removeAttribute("aria-selected");
  for (const [element, kind] of marked) element.classList.remove(kind);
  for (const panel of shown.querySelectorAll(".panel")) panel.hidden = true;
  held = null;
  marked = [];
}

function route() {
  release();
  shown = sections.find(section => "#" + section.id === location.hash) || sections[0];
  for (const section of sections) section.hidden = section !== shown;
  const rule = shown.querySelector("[data-rule]");
  if (rule) reachable(rule);
}

document.onpointerover = event => {
  /* A finger selects: a panel that came up before the click would be what is clicked. */
  if (event.pointerType !== "mouse") return;
  const item = event.target.closest("[data-own]");
  if (item) show(item);
  else if (held) show(held);
};
document.onclick = event => {
  if (event.target.closest(".panel, nav")) return;
  const item = event.target.closest("[data-own]");
  const rule = item && item.dataset.own.split(" ").find(name => name[0] === "r");
  if (item && "rule" in item.dataset) hold(item);
  else if (rule) hold(document.getElementById(shown.id + "-" + rule));
  else if (!item) release();
};
/* Of the keyboard: with a pointer the focus comes before the click, which a page that moved would miss. */
document.addEventListener("focusin", event => {
  if (event.target !== held && event.target.matches("[data-rule]:focus-visible")) hold(event.target);
});
document.onkeydown = event => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  /* Outer links are of sentences, inner ones of derivations. */
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

/* Views of derivations, alignments and charts, from the data that hiero/pages/views.py makes. The page of `hiero serve`
   and notebooks show the same ones. Texts are put into the document as texts, never as markup. */

/* Makes an element: attributes by name, handlers as functions called on..., and children, which may be texts. */
export function element(tag, attributes = {}, ...children) {
  const node = tag === "svg" || SVG.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter(child => child != null && child !== false));
  return node;
}
const SVG = new Set(["g", "rect", "text", "title", "path"]);

export function number(value, digits = 3) {
  return (Math.round(value * 10 ** digits) / 10 ** digits + 0)
    .toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/* Words from left to right in the order of the sentence, each in the direction of its own script. */
function words(text) {
  return text.split(" ").flatMap((word, k) => [k ? " " : "", element("bdi", {}, word)]);
}

/* A side of a rule: nonterminals have the colours of their numbers. */
function side(text) {
  return element("span", { class: "side" }, text.split(" ").flatMap((token, k) => {
    const nonterminal = /^\[(.*),(\d)\]$/.exec(token);
    return [k ? " " : "", nonterminal ? element("b", { class: "n" + Math.min(nonterminal[2], 3) }, token) : element("bdi", {}, token)];
  }));
}

export function ruleLine(rule) {
  return element("span", { class: "sides" }, side(rule.source), " → ", side(rule.target || "∅"));
}

/* A table of the features of a rule or a translation, with their weights where these are known. */
export function featureTable(features, weights, caption) {
  const columns = weights ? 4 : 2;
  const rows = Object.entries(features).map(([name, value]) => [name, value, weights?.[name] ?? 0])
    .sort((a, b) => Math.abs(b[1] * b[2]) - Math.abs(a[1] * a[2]));
  const sum = rows.reduce((total, [, value, weight]) => total + value * weight, 0);
  const head = ["feature", "value", "weight", "product"].slice(0, columns).map(text => element("th", { scope: "col" }, text));
  return element("table", { class: "features" }, element("caption", {}, caption), element("tr", {}, head),
    rows.map(([name, value, weight]) => element("tr", {}, element("th", { scope: "row" }, name),
      [number(value), Number(weight.toPrecision(4)), number(value * weight)].slice(0, columns - 1).map(text => element("td", {}, String(text))))),
    weights && element("tr", { class: "sum" }, element("th", { scope: "row" }, "score"), element("td"), element("td"),
      element("td", {}, number(sum))));
}

/* A rule, where it is from, and its features. */
export function ruleFeatures(rule, weights) {
  return [element("p", {}, ruleLine(rule), " ", element("span", { class: "score" }, rule.table === "sentence" ? "added or learned" : rule.table)),
    featureTable(rule.features, weights, "the rule")];
}

/* Bars of differences by feature: to the right what speaks for the first of two translations, to the left what speaks
   against it. */
export function differenceBars(differences) {
  const most = Math.max(1e-9, ...Object.values(differences).map(Math.abs));
  return element("table", { class: "bars" }, Object.entries(differences).map(([name, value]) => element("tr", {},
    element("th", { scope: "row" }, name),
    element("td", {}, number(value)),
    element("td", { class: "bar", "aria-hidden": "true" }, element("span", {
      class: value < 0 ? "against" : "for",
      style: `--share:${(50 * Math.abs(value) / most).toFixed(1)}%`,
    })))));
}

/* The words of a sentence above those of its translation, each row in its own direction. Words that belong together light
   up when the pointer or the focus is on one. `onselect` is called with "s" or "t" and the position of a chosen word. */
export function alignmentRows(sentence, directions, onselect = () => {}) {
  const rows = element("div", { class: "rows" });
  const show = (source, target) => {
    for (const one of rows.querySelectorAll("[data-word]")) {
      const [kind, k] = [one.dataset.word[0], Number(one.dataset.word.slice(1))];
      one.classList.toggle("linked", kind === "s" ? source.has(k) : target.has(k));
    }
  };
  const linked = (kind, k) => {
    const pairs = sentence.alignment.filter(pair => pair[kind === "s" ? 0 : 1] === k);
    return kind === "s" ? [new Set([k]), new Set(pairs.map(pair => pair[1]))] : [new Set(pairs.map(pair => pair[0])), new Set([k])];
  };
  const word = (kind, token, k) => element("button", {
    type: "button", class: "word", "data-word": kind + k, "data-focus": kind + k,
    style: kind === "t" ? `--sure:${(sentence.confidence[k] ?? 1).toFixed(2)}` : null,
    title: kind === "t" && sentence.confidence.length ? `sure by ${number(sentence.confidence[k], 2)}` : null,
    "data-unknown": kind === "s" && sentence.unknown.includes(k) ? "" : null,
    onpointerenter: () => show(...linked(kind, k)), onfocus: () => show(...linked(kind, k)), onblur: () => show(new Set(), new Set()),
    onclick: () => onselect(kind, k),
  }, element("bdi", {}, token));
  rows.append(element("h3", {}, "source"), element("div", { class: "row", dir: directions[0] }, sentence.source.map((token, k) => [word("s", token, k), " "])),
    element("h3", {}, "translation"), element("div", { class: "row", dir: directions[1] }, sentence.tokens.map((token, k) => [word("t", token, k), " "])));
  rows.addEventListener("pointerleave", () => show(new Set(), new Set()));
  return rows;
}

/* A derivation as a tree that folds. `onselect` is called with a rule that is chosen. */
export function derivationTree(rule, onselect = () => {}) {
  const tree = element("ul", { role: "tree", class: "derivation", "aria-label": "derivation" }, branch(rule, "0", onselect));
  tree.addEventListener("keydown", treeKeys);
  tree.querySelector("[role=treeitem]").tabIndex = 0;
  return tree;
}

/* Tells whether a rule only puts a part after what has its own label, as glue rules do. Long sentences are chains of them,
   which are not indented: there would be no room for the rules. */
function isGlue({ label, source }) {
  return /^\[([^\]]+),1\] \[[^\]]+,2\]$/.exec(source)?.[1] === label;
}

/* `path` numbers the children that lead to the rule, so that an item that had the focus is found again. */
function branch(rule, path, onselect, isChained = false) {
  const has = rule.children.length > 0;
  const group = has && element("ul", { role: "group" },
    rule.children.map((child, k) => branch(child, `${path}.${k}`, onselect, k === 0 && isGlue(rule))));
  const item = element("li", {
    role: "treeitem", class: isChained ? "chained" : null, tabindex: -1, "aria-level": path.split(".").length, "aria-expanded": has ? "true" : null,
    "aria-selected": "false", "data-focus": `rule ${path}`,
  }, element("div", { class: "line" },
    element("span", { class: "fold", "aria-hidden": "true" }, has ? "▾" : ""),
    element("span", { class: "head" }, `${rule.label || "whole"} ${rule.span[0]}:${rule.span[1]}`),
    " ", ruleLine(rule), rule.score != null && element("span", { class: "score" }, number(rule.score))), group || null);
  item.firstChild.addEventListener("click", event => {
    if (event.target.classList.contains("fold")) fold(item, item.getAttribute("aria-expanded") !== "true");
    select(item);
  });
  item.addEventListener("choose", event => { event.stopPropagation(); onselect(rule); });
  return item;
}

function fold(item, open) {
  if (!item.hasAttribute("aria-expanded")) return;
  item.setAttribute("aria-expanded", String(open));
  item.querySelector(".fold").textContent = open ? "▾" : "▸";
}

function select(item) {
  const tree = item.closest("[role=tree]");
  for (const other of tree.querySelectorAll("[role=treeitem]")) {
    other.tabIndex = -1;
    other.setAttribute("aria-selected", "false");
  }
  item.tabIndex = 0;
  item.setAttribute("aria-selected", "true");
  item.focus({ preventScroll: true });
  item.dispatchEvent(new CustomEvent("choose", { bubbles: true }));
}

/* The keys of trees, as the ARIA guidelines have them. */
function treeKeys(event) {
  const item = event.target.closest("[role=treeitem]");
  if (!item || event.altKey || event.ctrlKey || event.metaKey) return;
  const seen = [...event.currentTarget.querySelectorAll("[role=treeitem]")]
    .filter(other => !other.parentNode.closest("[aria-expanded=false]"));
  const at = seen.indexOf(item), open = item.getAttribute("aria-expanded");
  const to = {
    ArrowDown: () => seen[at + 1], ArrowUp: () => seen[at - 1], Home: () => seen[0], End: () => seen.at(-1),
    ArrowRight: () => open === "false" ? fold(item, true) : open && seen[at + 1],
    ArrowLeft: () => open === "true" ? fold(item, false) : item.parentNode.closest("[role=treeitem]"),
    Enter: () => item, " ": () => item,
  }[event.key];
  if (!to) return;
  event.preventDefault();
  const next = to();
  if (next) select(next);
}

const CELL = 26;

/* A chart as a triangle: each cell over the words of its span, longer spans higher. `onselect` is called with the span of
   a cell that is chosen; `marked` is the span that is chosen already. */
export function chartTriangle(chart, onselect, marked = null) {
  const size = chart.source.length, height = CELL * size;
  const most = Math.max(1, ...chart.cells.map(cell => cell.items));
  const cells = chart.cells.map(cell => {
    const [begin, end] = cell.span;
    const text = `${begin}:${end} ${chart.source.slice(begin, end).join(" ")}`;
    const told = `${cell.items} items${cell.pruned ? `, ${cell.pruned} pruned` : ""}; best: ${cell.best}`;
    const place = { x: CELL * (begin + end - 1) / 2 + 2, y: height - CELL * (end - begin) + 2 };
    const chosen = marked && marked[0] === begin && marked[1] === end;
    return element("g", {
      role: "button", tabindex: -1, class: "cell" + (chosen ? " chosen" : ""), "data-span": `${begin}:${end}`, "data-focus": `cell ${begin}:${end}`,
      "aria-label": `${text}: ${told}`, "aria-pressed": String(Boolean(chosen)),
      onclick: () => onselect([begin, end]),
    }, element("title", {}, `${text}\n${told}`),
    element("rect", { ...place, width: CELL - 4, height: CELL - 4, rx: 4,
      style: `--fill:${(0.15 + 0.85 * Math.log(1 + cell.items) / Math.log(1 + most)).toFixed(2)}` }),
    cell.pruned ? element("path", { class: "lost",
      d: `M${place.x + CELL - 10} ${place.y}h6v6z` }) : null);
  });
  const labels = chart.source.map((word, k) => element("text", { x: CELL * (k + 0.5), y: height + 14, "text-anchor": "middle" },
    String(k), element("title", {}, word)));
  const picture = element("svg", { width: CELL * size, height: height + 20, viewBox: `0 0 ${CELL * size} ${height + 20}`,
    role: "group", "aria-label": "chart" }, cells, labels);
  picture.addEventListener("keydown", chartKeys);
  const first = picture.querySelector(".chosen") || cells.find(cell => cell.dataset.span === `0:${size}`) || cells[0];
  if (first) first.setAttribute("tabindex", 0);
  return picture;
}

/* Arrow keys lead to neighbours: sideways to spans of the same length, up to longer ones and down to shorter ones. */
function chartKeys(event) {
  const cell = event.target.closest("[data-span]");
  if (!cell) return;
  if (event.key === "Enter" || event.key === " ") {
    cell.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    event.preventDefault();
  }
  const [begin, end] = cell.dataset.span.split(":").map(Number);
  const tries = {
    ArrowLeft: [[begin - 1, end - 1]], ArrowRight: [[begin + 1, end + 1]],
    ArrowUp: [[begin, end + 1], [begin - 1, end]], ArrowDown: [[begin, end - 1], [begin + 1, end]],
  }[event.key] || [];
  for (const [from, to] of tries) {
    const next = event.currentTarget.querySelector(`[data-span="${from}:${to}"]`);
    if (!next) continue;
    cell.setAttribute("tabindex", -1);
    next.setAttribute("tabindex", 0);
    next.focus();
    event.preventDefault();
    break;
  }
}

/* A list of the items of a cell. `onselect` is called with one that is chosen. */
export function itemList(items, onselect) {
  return element("ol", { class: "items" }, items.map((item, rank) => element("li", { class: item.survived ? "" : "pruned" },
    element("button", { type: "button", "data-focus": `item ${rank}`, onclick: () => onselect(item) },
      element("span", { class: "rank" }, `${rank + 1}. `), element("span", { class: "text" }, words(item.text || "∅")),
      element("span", { class: "score" }, `${item.label} ${number(item.score)}${item.survived ? "" : " pruned"}`)),
    ruleLine(item.rule))));
}

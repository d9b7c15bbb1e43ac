/* The page of a frame in a notebook: the views of a sentence, of a chart, or of both. Their data are in the page. */
import { alignmentRows, chartTriangle, derivationTree, element, featureTable, itemList, number, ruleFeatures } from "./views.js";

const { sentence, directions, chart, weights } = JSON.parse(document.getElementById("data").textContent);

function section(name, ...parts) {
  return element("section", { "aria-label": name }, element("h2", {}, name), parts);
}

function derivationView() {
  const aside = element("aside", { "aria-live": "polite" }, featureTable(sentence.features, weights, "the whole translation"));
  const tree = derivationTree(sentence.derivation, rule => aside.replaceChildren(...ruleFeatures(rule, weights)));
  return element("div", { class: "columns" }, tree, aside);
}

function chartView() {
  if (!chart.cells.length) return element("p", {}, "The chart has too many cells to draw.");
  const place = element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "cells" });
  const aside = element("aside", { "aria-live": "polite" },
    element("p", { class: "hint" }, "Choose a cell. A corner marks cells that lost items by pruning."));
  const open = span => {
    place.replaceChildren(chartTriangle(chart, open, span));
    place.querySelector(".chosen").focus({ preventScroll: true });
    aside.replaceChildren(...cellDetails(span));
  };
  place.append(chartTriangle(chart, open));
  return element("div", { class: "columns" }, place, aside);
}

/* The items of a cell, and the rule of the one that is chosen. */
function cellDetails(span) {
  const k = chart.cells.findIndex(cell => String(cell.span) === String(span));
  const items = chart.items[k], left = chart.cells[k].items + chart.cells[k].pruned - items.length;
  const details = element("div");
  return [element("h3", {}, `${span.join(":")} `, element("bdi", {}, chart.source.slice(...span).join(" "))),
    itemList(items, item => details.replaceChildren(...ruleFeatures(item.rule, weights))),
    left ? element("p", { class: "hint" }, `Left out of this page: ${number(left, 0)} more.`) : "", details];
}

document.querySelector("main").append(
  element("h1", {}, element("bdi", {}, sentence ? sentence.text || "∅" : chart.source.join(" "))),
  ...sentence ? [element("p", { class: "score" }, `score ${number(sentence.score)}`),
    section("words", alignmentRows(sentence, directions)), section("derivation", derivationView())] : [],
  ...chart ? [section("chart", chartView())] : []);

/* The page of `hiero serve`. Its whole state is one object, which the link has; every change goes through `change`, which
   asks the server for what is missing and draws again. Answers are kept by the request that they are of, so that each
   sentence is translated once, and requests that nothing shows any more are cancelled. */
import { alignmentRows, chartTriangle, derivationTree, differenceBars, element, featureTable, itemList, number, ruleFeatures, ruleLine } from "./views.js";

const $ = id => document.getElementById(id);
const EMPTY = { weights: {}, rules: [], hidden: [] };
const VIEWS = { words: "words", derivation: "derivation", chart: "chart", why: "why not?", edit: "edit and teach" };
const state = {
  model: "", context: "", text: "", settings: [{ ...EMPTY }, { ...EMPTY }], compare: false, active: 0,
  sentence: 0, view: "words", span: null, wanted: "", phrases: {}, prefix: {},
};
let models = [], context = null, drawn = 0;

/* The server. */

const answers = new Map();  // by path and request: {value} or {error}, or {abort} while it is asked
const MOST_ANSWERS = 400;
let asked = new Set();      // keys that the present drawing needs

/* Returns an answer, or undefined and asks for it. */
function ask(path, fields) {
  const key = path + JSON.stringify(fields);
  asked.add(key);
  const known = answers.get(key);
  if (known) {
    answers.delete(key);
    answers.set(key, known);  // the least recently used one is first
    return known.abort ? undefined : known;
  }
  const abort = new AbortController();
  answers.set(key, { abort });
  send(path, fields, abort.signal).then(value => ({ value }), error => ({ error })).then(answer => {
    if (abort.signal.aborted) return;
    answers.set(key, answer);
    while (answers.size > MOST_ANSWERS) answers.delete(answers.keys().next().value);
    schedule();
  });
  return undefined;
}

/* Cancels what the last drawing did not ask for. */
function cancelOthers() {
  for (const [key, answer] of answers) {
    if (answer.abort && !asked.has(key)) {
      answer.abort.abort();
      answers.delete(key);
    }
  }
}

async function send(path, fields, signal, method = "POST") {
  const headers = { "Content-Type": "application/json" };
  if ($("key").value) headers["X-API-Key"] = $("key").value;
  const body = method === "POST" ? JSON.stringify(fields) : undefined;
  for (;;) {
    const answer = await fetch(path, { method, headers, body, signal });
    const value = await answer.json();
    if (answer.ok) return value;
    if (answer.status === 401) $("key-form").hidden = false;
    if (answer.status !== 429 && answer.status !== 503) throw new Error(value.error);
    await new Promise(resolve => setTimeout(resolve, 300));
  }
}

/* Sentences and requests. */

/* The sentences of the text, and the numbers of their lines. */
function sentencesOf(text) {
  const segmenter = new Intl.Segmenter(languageTag(model()?.source), { granularity: "sentence" });
  return text.split("\n").flatMap((line, number) => [...segmenter.segment(line)]
    .map(part => ({ text: part.segment.trim(), line: number })).filter(sentence => sentence.text));
}

function model() {
  return models.find(one => one.name === state.model);
}

/* The direction of the text of a language. */
function direction(code) {
  const locale = new Intl.Locale(languageTag(code)).maximize();
  return RIGHT_TO_LEFT.has(locale.script) ? "rtl" : "ltr";
}
const RIGHT_TO_LEFT = new Set("Arab Aran Hebr Syrc Thaa Nkoo Adlm Rohg Mand Samr".split(" "));

function languageTag(code) {
  try {
    return Intl.getCanonicalLocales(code)[0];
  } catch {
    return "und";
  }
}

/* The fields of requests about a sentence, with one of the two settings. */
function fieldsOf(text, which, more = {}) {
  const settings = state.settings[which];
  const fields = { model: state.model, text, weights: settings.weights, rules: settings.rules, hidden: settings.hidden, ...more };
  if (state.context) fields.context = state.context;
  if (state.phrases[text]) fields.phrases = state.phrases[text];
  return fields;
}

function translation(text, which) {
  return ask("api/translate", fieldsOf(text, which, { split: false, details: true, alternatives: 5 }));
}

/* Changes of the state, and the link. */

function change(fields) {
  Object.assign(state, fields);
  said = "";
  schedule();
}

function changeSettings(fields) {
  const settings = [...state.settings];
  settings[state.active] = { ...settings[state.active], ...fields };
  change({ settings });
}

function schedule() {
  if (!drawn) drawn = requestAnimationFrame(() => { drawn = 0; draw(); });
}

function writeLink() {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const link = "#" + btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_");
  if (link !== location.hash) history.replaceState(null, "", link);
}

function readLink() {
  if (location.hash.length < 2) return;
  try {
    const text = atob(location.hash.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
    const read = JSON.parse(new TextDecoder().decode(Uint8Array.from(text, one => one.charCodeAt(0))));
    for (const name of Object.keys(state)) if (typeof read[name] === typeof state[name]) state[name] = read[name];
  } catch {
    note("The link cannot be read.");
  }
}

/* Says something until the next change. */
function note(text) {
  said = text;
  $("status").textContent = text;
}
let said = "";

/* Drawing. */

function draw() {
  asked = new Set();
  const sentences = sentencesOf(state.text);
  state.sentence = Math.max(0, Math.min(state.sentence, sentences.length - 1));
  setValue($("source"), state.text);
  setValue($("context"), state.context);
  $("model").value = state.model;
  $("compare").checked = state.compare;
  drawOutputs(sentences);
  drawInspection(sentences[state.sentence]?.text);
  drawSettings();
  cancelOthers();
  writeLink();
}

/* Sets the value of a field, unless somebody writes there. */
function setValue(field, value) {
  if (field.value !== value && document.activeElement !== field) field.value = value;
}

/* Draws anew what is within an element, and gives the focus back to the part that had it. */
function redraw(place, ...children) {
  const focused = place.contains(document.activeElement) && document.activeElement.dataset.focus;
  place.replaceChildren(...children.flat(Infinity).filter(Boolean));
  if (focused) place.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

function drawOutputs(sentences) {
  const lines = sentences.map(sentence => sentence.text);
  const which = state.compare ? [0, 1] : [state.active];
  const errors = new Set();
  let waiting = 0;
  redraw($("outputs"), which.map(setting => {
    const found = lines.map(line => translation(line, setting));
    const name = state.compare ? `translation ${"AB"[setting]}` : "translation";
    for (const one of found) if (one?.error) errors.add(one.error.message);
    waiting += found.filter(one => !one).length;
    const other = state.compare ? lines.map(line => translation(line, 1 - setting)) : [];
    return element("div", { role: "group", "aria-label": name }, element("h2", {}, name),
      element("div", { class: "output", lang: languageTag(model()?.target), dir: direction(model()?.target) }, found.map((one, k) =>
        [k ? "\n ".at(sentences[k].line > sentences[k - 1].line ? 0 : 1) : "", outputSentence(one, k, setting, other[k])])));
  }));
  const times = lines.map(line => translation(line, state.active)?.value?.milliseconds).filter(one => one != null);
  const late = lines.some(line => translation(line, state.active)?.value?.sentences[0]?.late);
  $("status").textContent = said || [...errors].join(" ") || (waiting ? "translating …" : late ? "The time for a request ended a search." :
    times.length ? `${number(times.reduce((a, b) => a + b, 0), 0)} ms` : "");
}

function outputSentence(answer, k, setting, other) {
  const chosen = k === state.sentence;
  const sentence = answer?.value?.sentences[0];
  const text = sentence ? sentence.text || "∅" : answer?.error ? "✕" : "…";
  const theirs = other?.value?.sentences[0]?.tokens;
  const parts = sentence ? placedWords(sentence).map(([part, j]) => j == null ? part : element("span", {
    class: "word", style: `--sure:${(sentence.confidence[j] ?? 1).toFixed(2)}`,
    "data-differs": theirs && !theirs.includes(sentence.tokens[j]) ? "" : null,
  }, part)) : [text];
  return element("button", {
    type: "button", class: "sentence" + (chosen ? " chosen" : ""), "aria-pressed": String(chosen), "data-focus": `s${setting}-${k}`,
    onclick: () => change({ sentence: k, active: setting, span: null, wanted: "" }),
  }, parts);
}

/* Finds tokens in the text that they were written as: pairs of a part of the text and the token that it is, if any. */
function placedWords(sentence) {
  const parts = [], lower = sentence.text.toLowerCase();
  let at = 0;
  sentence.tokens.forEach((token, j) => {
    const plain = token.replaceAll("￭", "");
    const found = lower.indexOf(plain.toLowerCase(), at);
    if (found < 0 || !plain || found > at + 3) return;
    if (found > at) parts.push([sentence.text.slice(at, found), null]);
    at = found + plain.length;
    parts.push([sentence.text.slice(found, at), j]);
  });
  if (at < sentence.text.length) parts.push([sentence.text.slice(at), null]);
  return parts;
}

/* The selected sentence. */

function drawInspection(text) {
  const answer = text && translation(text, state.active);
  const sentence = answer?.value?.sentences[0];
  $("inspect").hidden = !text;
  redraw($("tabs"), Object.entries(VIEWS).map(([view, name]) => element("button", {
    type: "button", role: "tab", id: `tab-${view}`, "aria-controls": "view", "aria-selected": String(view === state.view),
    tabindex: view === state.view ? 0 : -1, "data-focus": view, onclick: () => change({ view }), onkeydown: tabKeys,
  }, name)));
  $("view").setAttribute("aria-labelledby", `tab-${state.view}`);
  if (!text) return;
  const draws = { words: viewWords, derivation: viewDerivation, chart: viewChart, why: viewWhy, edit: viewEdit };
  if (sentence || state.view === "edit") redraw($("view"), draws[state.view](text, sentence, answer?.value?.weights || {}));
  else redraw($("view"), element("p", {}, answer?.error ? answer.error.message : "…"));
}

function tabKeys(event) {
  const names = Object.keys(VIEWS), at = names.indexOf(state.view);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[event.key];
  if (to == null) return;
  event.preventDefault();
  change({ view: names[(to + names.length) % names.length] });
  requestAnimationFrame(() => requestAnimationFrame(() => $(`tab-${state.view}`).focus()));
}

function viewWords(text, sentence) {
  const directions = [direction(model().source), direction(model().target)];
  const rows = alignmentRows(sentence, directions, (kind, k) => change({ span: spanOf(sentence, kind, k) }));
  return [rows, phraseAlternatives(text, sentence), otherTranslations(sentence)];
}

/* The source span of a word: those that it is linked with and all between, or itself. */
function spanOf(sentence, kind, k) {
  const places = kind === "s" ? [k] : sentence.alignment.filter(pair => pair[1] === k).map(pair => pair[0]);
  return places.length ? [Math.min(...places), Math.max(...places) + 1] : null;
}

function phraseAlternatives(text, sentence) {
  const chosen = state.phrases[text] || [];
  const removal = chosen.length > 0 && element("button", {
    type: "button", onclick: () => change({ phrases: { ...state.phrases, [text]: undefined } }),
  }, "undo choices");
  if (!state.span) return removal ? [removal] : element("p", { class: "hint" }, "Choose a word to see other translations of it.");
  const [begin, end] = state.span;
  const answer = ask("api/chart", fieldsOf(text, state.active, { span: state.span, items: 60 }));
  const texts = [...new Set((answer?.value?.items || []).map(item => item.text).filter(Boolean))].slice(0, 12);
  const widen = [[begin - 1, end, "one word more before"], [begin, end + 1, "one word more after"]]
    .filter(([from, to]) => from >= 0 && to <= sentence.source.length);
  return element("div", { class: "alternatives", role: "group", "aria-label": "alternatives" },
    element("h3", {}, "other translations of ", element("bdi", {}, sentence.source.slice(begin, end).join(" "))),
    answer?.error ? element("p", {}, answer.error.message) : null,
    texts.map(one => [element("button", { type: "button", class: "choice", "data-focus": `a${one}`, onclick: () => choosePhrase(text, one) },
      element("bdi", {}, one)), " "]),
    widen.map(([from, to, name]) => [element("button", { type: "button", class: "plain", onclick: () => change({ span: [from, to] }) }, name), " "]),
    removal || null);
}

function choosePhrase(text, translated) {
  const [begin, end] = state.span;
  const others = (state.phrases[text] || []).filter(([from, to]) => to <= begin || end <= from);
  change({ phrases: { ...state.phrases, [text]: [...others, [begin, end, translated]] } });
}

function otherTranslations(sentence) {
  return sentence.alternatives.length > 0 && element("div", {}, element("h3", {}, "other translations of the sentence"),
    element("ol", { class: "others" }, sentence.alternatives.map(one => element("li", {},
      element("bdi", { dir: direction(model().target) }, one.text), " ", element("span", { class: "score" }, number(one.score))))));
}

function viewDerivation(text, sentence, weights) {
  if (!sentence.derivation) return element("p", {}, "No rules translate this sentence.");
  const aside = element("aside", { "aria-live": "polite" });
  const show = rule => aside.replaceChildren(...ruleDetails(rule, weights));
  aside.replaceChildren(featureTable(sentence.features, weights, "the whole translation"));
  return element("div", { class: "columns" }, derivationTree(sentence.derivation, show), aside);
}

/* The features of a rule, and what can be done with it. */
function ruleDetails(rule, weights) {
  const settings = state.settings[state.active];
  const plain = `[${rule.label}] ||| ${rule.source} ||| ${rule.target}`;
  const actions = rule.label && rule.table && element("p", {},
    element("button", { type: "button", onclick: () => changeSettings({ hidden: [...settings.hidden, plain], rules: settings.rules.filter(one => !one.startsWith(plain)) }) }, "hide this rule"), " ",
    element("button", { type: "button", onclick: () => editRule(rule, plain) }, "edit this rule"));
  return [...ruleFeatures(rule, weights), actions || ""];
}

/* Hides a rule, and adds one with its features to be edited in the settings. */
function editRule(rule, plain) {
  const settings = state.settings[state.active];
  const known = model().weights;
  const features = Object.entries(rule.features).filter(([name]) => name in known && !/^(LM\d|WordPenalty|RulePenalty|OOV|Identity|Glue)/.test(name));
  const line = `${plain} ||| ${features.map(([name, value]) => `${name}=${value}`).join(" ")}`;
  changeSettings({ hidden: [...settings.hidden, plain], rules: [...settings.rules, line] });
  requestAnimationFrame(() => requestAnimationFrame(() => $("rules").focus()));
}

function viewChart(text, sentence, weights) {
  const answer = ask("api/chart", fieldsOf(text, state.active, { span: state.span, items: 30 }));
  if (!answer) return element("p", {}, "…");
  if (answer.error) return element("p", {}, answer.error.message);
  const chart = answer.value, aside = element("aside", { "aria-live": "polite" });
  const about = state.span ? chart.source.slice(...state.span).join(" ") : "";
  aside.append(...state.span ? [element("h3", {}, `${state.span.join(":")} `, element("bdi", {}, about)),
    chart.items.length ? itemList(chart.items, item => aside.lastChild.replaceChildren(...ruleDetails(item.rule, weights))) : element("p", {}, "nothing is there"),
    element("div")] : [element("p", { class: "hint" }, "Choose a cell. A corner marks cells that lost items by pruning.")]);
  return element("div", { class: "columns" }, element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "chart" },
    chartTriangle(chart, span => change({ span }), state.span)), aside);
}

function viewWhy(text, sentence, weights) {
  const form = element("form", {}, element("label", { for: "wanted" }, "the translation that you wanted"),
    element("textarea", { id: "wanted", rows: 2, dir: direction(model().target), "data-focus": "wanted", spellcheck: "false" }),
    element("button", { type: "submit" }, "why not?"));
  const field = form.querySelector("textarea");
  field.value = $("wanted")?.value ?? (state.wanted || sentence.text);
  form.addEventListener("submit", event => { event.preventDefault(); change({ wanted: field.value }); });
  if (!state.wanted.trim()) return form;
  const answer = ask("api/why-not", fieldsOf(text, state.active, { wanted: state.wanted }));
  return [form, !answer ? element("p", {}, "…") : answer.error ? element("p", {}, answer.error.message) :
    element("div", { class: "reason", "aria-live": "polite" }, reason(answer.value, weights))];
}

function reason(why, weights) {
  const quoted = (list, places) => places.map((place, k) => [k ? ", " : "", element("b", {}, element("bdi", {}, list[place]))]);
  if (why.reason === "chosen") return [element("p", {}, "This is the translation.")];
  if (why.reason === "no rule") {
    const parts = [];
    if (why.source_words.length) parts.push(element("p", {}, "No rule accounts for these words of the source: ", quoted(why.source, why.source_words)));
    if (why.target_words.length) parts.push(element("p", {}, "No rule brings these words of the translation: ", quoted(why.tokens, why.target_words)));
    return [element("p", {}, element("strong", {}, "No rules"), " of the model make this translation."),
      ...parts.length ? parts : [element("p", {}, "There are rules for all words, but they do not fit together.")]];
  }
  const compared = [element("h3", {}, "features that speak for it and against it"), differenceBars(why.differences),
    element("p", {}, `Its score is ${number(why.wanted.score)}, that of the translation ${number(why.best?.score ?? 0)}.`)];
  if (why.reason === "limit") return [element("p", {}, element("strong", {}, "A limit"), ` keeps it out: ${why.limits.join(", ")}.`), ...compared];
  if (why.reason === "scored lower") return [element("p", {}, "Search found it, but it ", element("strong", {}, "scored lower"), "."), ...compared];
  const lost = why.pruned, cell = `${lost.span.join(":")} (${why.source.slice(...lost.span).join(" ")})`;
  return [element("p", {}, "A part of it was ", element("strong", {}, "pruned"), `: “${lost.text}” for ${cell}. `,
    lost.made ? "Search made it and dropped it." : "Search did not come to it.",
    ` By its score it has rank ${lost.rank} in its cell.`),
  element("p", {}, ruleLine(lost.rule), " ", element("span", { class: "score" }, number(lost.score))),
  element("h3", {}, "what is there instead"),
  element("ol", { class: "others" }, lost.winners.map(one => element("li", {}, element("bdi", { dir: direction(model().target) }, one.text), " ", element("span", { class: "score" }, number(one.score))))),
  ...compared];
}

/* Interactive translation: what is typed is a prefix, and the server completes it. */
function viewEdit(text, sentence) {
  const typed = state.prefix[text] ?? "";
  const answer = ask("api/translate", fieldsOf(text, state.active, { split: false, prefix: typed }));
  const whole = answer?.value?.sentences[0]?.text;
  const rest = whole != null && whole.startsWith(typed) ? whole.slice(typed.length) : whole != null && typed ? null : whole ?? "";
  const kept = $("edit");
  const box = kept ? kept.closest(".edit") : editBox();
  const field = box.querySelector("textarea");
  if (field.dataset.text !== text) box.querySelector("#rest").textContent = "";  // it is of another sentence
  field.dataset.text = text;
  field.dir = box.querySelector("#rest").dir = direction(model().target);
  setValue(field, typed);
  if (answer) box.querySelector("#rest").textContent = rest ?? "";  // until then, what was suggested before stays
  box.querySelector("#edit-note").textContent = answer?.error ? answer.error.message :
    rest == null && !answer?.error ? (answer ? "No translation of the model goes on like this." : "…") : "";
  const learn = box.querySelector("#learn");
  learn.disabled = teaching || !answer?.value || !state.context || !(typed + box.querySelector("#rest").textContent).trim();
  box.querySelector("#teach-note").textContent = state.context ? `Corrections are kept in the context ${state.context}.` : "Name a context above to teach the model.";
  return box;
}

function editBox() {
  const field = element("textarea", { id: "edit", rows: 3, "data-focus": "edit", spellcheck: "false", "aria-describedby": "edit-help" });
  const text = () => field.dataset.text;
  let leaving = false, before = "";
  const type = () => {
    const whole = before + $("rest").textContent;  // which goes on at once where what is typed agrees
    $("rest").textContent = whole.startsWith(field.value) ? whole.slice(field.value.length) : "";
    before = field.value;
    change({ prefix: { ...state.prefix, [text()]: field.value } });
  };
  field.addEventListener("beforeinput", () => { before = field.value; });
  field.addEventListener("input", type);
  field.addEventListener("keydown", event => {
    if (event.key === "Escape") leaving = true;
    else if (event.key === "Tab" && !event.shiftKey && !leaving && accept()) event.preventDefault();
    else if (event.key !== "Tab" && event.key !== "Shift") leaving = false;
  });
  /* Takes the next word of what the model suggests. */
  const accept = () => {
    const next = /^\s*\S+\s?/.exec($("rest").textContent);
    if (!next) return false;
    before = field.value;
    field.value += next[0];
    type();
    return true;
  };
  const box = element("div", { class: "edit" }, element("label", { for: "edit" }, "translation, as you type it"), field,
    element("output", { id: "rest", for: "edit", "aria-label": "the rest of the translation" }),
    element("p", { class: "hint", id: "edit-help" }, "Tab takes the next word; Escape and then Tab leaves the field."),
    element("p", { id: "edit-note", role: "status" }),
    element("button", { type: "button", id: "accept", onclick: accept }, "take a word"), " ",
    element("button", { type: "button", id: "learn", onclick: () => teach(text(), field.value + $("rest").textContent) }, "this is right: learn"), " ",
    element("span", { class: "hint", id: "teach-note" }));
  return box;
}

let teaching = false;

async function teach(source, target) {
  if (teaching) return;
  teaching = true;
  try {
    const started = performance.now();
    const learned = await send("api/correct", { model: state.model, context: state.context, source, target });
    forget();
    await loadContext();
    change({ prefix: { ...state.prefix, [source]: "" } });
    note(`Learned correction ${learned.id} in ${number((performance.now() - started) / 1000, 2)} s.`);
  } catch (error) {
    note(error.message);
  } finally {
    teaching = false;
    schedule();
  }
}

/* Forgets all answers: the model has learned. */
function forget() {
  for (const answer of answers.values()) answer.abort?.abort();
  answers.clear();
}

async function loadContext() {
  context = null;
  const { model: name, context: wanted } = state;
  if (wanted) {
    try {
      const found = await send(`api/contexts/${encodeURIComponent(wanted)}?model=${encodeURIComponent(name)}`, null, undefined, "GET");
      if (name === state.model && wanted === state.context) context = found;  // another may be asked for meanwhile
    } catch (error) {
      note(error.message);
    }
  }
  schedule();
}

/* Settings: weights, rules, corrections. */

function drawSettings() {
  const place = $("settings");
  place.hidden = false;
  if (!model()) return;
  const isWritten = place.contains(document.activeElement) && document.activeElement.matches("textarea");
  if (isWritten || place.dataset.key === settingsKey()) return;
  place.dataset.key = settingsKey();
  const settings = state.settings[state.active];
  redraw(place, state.compare ? element("div", { class: "which", role: "group", "aria-label": "settings to change" }, [0, 1].map(which => element("button", {
    type: "button", "aria-pressed": String(which === state.active), "data-focus": `which${which}`, onclick: () => change({ active: which }),
  }, `settings ${"AB"[which]}`))) : null,
  element("div", { class: "panels" }, weightPanel(settings), rulePanel(settings), context ? contextPanel() : null));
}

/* What the settings show. They are not drawn again when they show it already: a slider that is dragged must stay. */
function settingsKey() {
  return JSON.stringify([state.model, state.active, state.compare, state.settings[state.active], state.context, context]);
}

function weightPanel(settings) {
  const learned = context?.weights || {};
  const rows = Object.entries({ ...model().weights, ...learned }).map(([name, usual]) => weightRow(name, usual, settings));
  return element("details", { open: true }, element("summary", {}, "weights"), element("div", { class: "weights" }, rows),
    element("button", { type: "button", onclick: () => changeSettings({ weights: {} }) }, "as in the model"));
}

function weightRow(name, usual, settings) {
  const value = settings.weights[name] ?? usual;
  const most = Math.max(0.2, 3 * Math.abs(usual));
  const set = (field, other) => {
    const chosen = Number(field.value);
    if (!Number.isFinite(chosen) || field.value === "") return;
    const weights = { ...state.settings[state.active].weights, [name]: chosen };
    if (chosen === usual) delete weights[name];
    changeSettings({ weights });
    other.value = Number(chosen.toPrecision(4));
    row.classList.toggle("changed", name in weights);
    $("settings").dataset.key = settingsKey();
  };
  const slider = element("input", { type: "range", min: -most, max: most, step: most / 200, "aria-label": `weight of ${name}`, "data-focus": `w-${name}`, oninput: () => set(slider, exact) });
  const exact = element("input", { type: "number", step: "any", "aria-label": `weight of ${name}, as a number`, "data-focus": `n-${name}`, onchange: () => set(exact, slider) });
  slider.value = value;
  exact.value = Number(value.toPrecision(4));
  const row = element("div", { class: "weight" + (name in settings.weights ? " changed" : "") }, element("span", {}, name), slider, exact);
  return row;
}

function rulePanel(settings) {
  const lines = (id, name, hint, field) => {
    const box = element("textarea", { id, rows: 3, "data-focus": id, spellcheck: "false", placeholder: hint, onchange: event => changeSettings({
      [field]: event.target.value.split("\n").map(asRule).filter(Boolean),
    }) });
    box.value = settings[field].join("\n");
    return [element("label", { for: id }, name), box];
  };
  return element("details", { open: settings.rules.length + settings.hidden.length > 0 }, element("summary", {}, "rules"),
    lines("rules", "rules to add, one a line", "source ||| target", "rules"),
    lines("hidden", "rules to hide, one a line", "source ||| target", "hidden"));
}

/* Completes a rule: its label may be left out. */
function asRule(line) {
  const text = line.trim();
  return !text ? "" : /^\[[^\]]+\] \|\|\| /.test(text) ? text : `[X] ||| ${text}`;
}

function contextPanel() {
  const undo = async id => {
    try {
      await send("api/undo", { model: state.model, context: state.context, id });
      forget();
      await loadContext();
    } catch (error) {
      note(error.message);
    }
  };
  return element("details", { open: true }, element("summary", {}, `corrections (${context.corrections.length}, ${context.rules} rules)`),
    element("ol", { class: "corrections" }, context.corrections.toReversed().map(one => element("li", { value: one.id },
      element("bdi", { dir: direction(model().source) }, one.source), " → ", element("bdi", { dir: direction(model().target) }, one.target), " ",
      element("button", { type: "button", class: "plain", "aria-label": `undo correction ${one.id}`, onclick: () => undo(one.id) }, "undo")))));
}

/* Start. */

async function start() {
  readLink();
  try {
    models = await send("api/models", null, undefined, "GET");
  } catch (error) {
    note(error.message);
    return;
  }
  $("model").replaceChildren(...models.map(one => element("option", { value: one.name }, `${one.name} (${one.source} → ${one.target})`)));
  if (!models.some(one => one.name === state.model)) state.model = models[0].name;
  await loadContext();
}

$("source").addEventListener("input", event => change({ text: event.target.value }));
$("model").addEventListener("change", event => { change({ model: event.target.value, settings: [{ ...EMPTY }, { ...EMPTY }], span: null }); loadContext(); });
$("context").addEventListener("change", event => { change({ context: event.target.value.replace(/[^\w.-]/g, "") }); loadContext(); });
$("compare").addEventListener("change", event => change({ compare: event.target.checked, active: 0 }));
$("key-form").addEventListener("submit", event => { event.preventDefault(); forget(); start(); });
$("link").addEventListener("click", () => {
  writeLink();
  navigator.clipboard?.writeText(location.href).catch(() => {});  // then it is in the address all the same
  note("The link has the whole state of this page.");
});
addEventListener("hashchange", () => { readLink(); loadContext(); });
start();

/* The page of `hiero serve`. Its whole state is one object, which the link has; every change goes through `change`, which
   asks the server for what is missing and draws again. Answers are kept by the request that they are of, so that each
   sentence is translated once, and requests that nothing shows any more are cancelled. */
import { alignmentRows, chartTriangle, derivationTree, differenceBars, element, featureTable, itemList, number, ruleFeatures, ruleLine } from "./views.js";

const $ = id => document.getElementById(id);
/* Objects whose keys are texts of users, among which may be "constructor", have no prototype. */
const table = (...tables) => Object.assign(Object.create(null), ...tables);
const emptySettings = () => [0, 1].map(() => ({ weights: table(), rules: [], hidden: [] }));
const VIEWS = {
  words: { name: "words", draw: viewWords }, derivation: { name: "derivation", draw: viewDerivation },
  chart: { name: "chart", draw: viewChart }, why: { name: "why not?", draw: viewWhy }, edit: { name: "edit and teach", draw: viewEdit },
};
const state = {
  model: "", context: "", text: "", settings: emptySettings(), compare: false, active: 0,
  sentence: 0, view: "words", span: null, wanted: table(), phrases: table(), prefix: table(),
};
let models = [], split = { sentences: [] }, learned = {};  // answers that stay until the next ones are there
let message = "", frame = 0, linkTimer = 0, pressed = false, teaching = false;

/* The server. */

const answers = new Map();  // by path and request: {value} or {error}, or {abort} while it is awaited
const MOST_ANSWERS = 400;
let needed = new Set();     // keys that the present drawing needs

/* Returns an answer, or undefined and asks for it: by POST if there are fields. */
function ask(path, fields) {
  const key = path + JSON.stringify(fields);
  needed.add(key);
  const answer = answers.get(key);
  if (answer) {
    answers.delete(key);
    answers.set(key, answer);  // the least recently used one is first
    return answer.abort ? undefined : answer;
  }
  const abort = new AbortController();
  answers.set(key, { abort });
  send(path, fields, { signal: abort.signal }).then(value => ({ value }), error => ({ error })).then(settled => {
    if (abort.signal.aborted) return;
    answers.set(key, settled);
    forget((_, other) => answers.size > MOST_ANSWERS && !needed.has(other));
    schedule();
  });
  return undefined;
}

/* Forgets answers: all of them after the model has learned. */
function forget(isForgotten = () => true) {
  for (const [key, answer] of answers) {
    if (!isForgotten(answer, key)) continue;
    answer.abort?.abort();
    answers.delete(key);
  }
}

/* Tells whether an error may go with time. Those of the request itself stay. */
function isPassing(error) {
  return !(error.status >= 400 && error.status < 500) || [401, 408, 429, 499].includes(error.status);
}

/* Sends a request, and again while the server is busy, but at most `tries` times. What is not to be done twice has one. */
async function send(path, fields, { signal, tries = 20 } = {}) {
  const headers = fields ? { "Content-Type": "application/json" } : {};
  if ($("key").value) headers["X-API-Key"] = $("key").value;
  const request = { method: fields ? "POST" : "GET", headers, body: fields && JSON.stringify(fields), signal };
  for (let wait = 0.3; ; wait = Math.min(1.5 * wait, 5)) {
    const response = await fetch(path, request).catch(() => { throw new Error("The server cannot be reached."); });
    const value = await response.json().catch(() => ({}));  // a proxy may answer otherwise
    if (response.ok) return value;
    if (response.status === 401) $("key-form").hidden = false;
    const seconds = Math.max(wait, Number(response.headers.get("Retry-After")) || 0);
    if (![429, 503].includes(response.status) || --tries < 1 || seconds > 60)
      throw Object.assign(new Error(value.error ?? `The server answers with status ${response.status}.`), { status: response.status });
    await new Promise(resolve => setTimeout(resolve, 1000 * seconds));
  }
}

/* Sentences and requests. */

/* Asks for the sentences of the text, each with the number of its line. Until they are there, those before stay. */
function askSentences() {
  const answer = state.text.trim() ? ask("api/split", { model: state.model, text: state.text }) : { value: { sentences: [] } };
  split = { sentences: answer?.value?.sentences ?? split.sentences, isDone: Boolean(answer), error: answer?.error };
}

/* Asks what the context has learned, if it has a name. While it is asked again, what it had learned before stays. */
function askContext() {
  const path = state.context && `api/contexts/${encodeURIComponent(state.context)}?model=${encodeURIComponent(state.model)}`;
  const answer = path && ask(path, null);
  if (answer || learned.path !== path) learned = { path, value: answer?.value, error: answer?.error };
}

function model() {
  return models.find(({ name }) => name === state.model);
}

/* The direction of the text of a language. */
function direction(code) {
  const locale = new Intl.Locale(languageTag(code)).maximize();
  return RIGHT_TO_LEFT.has(locale.script) ? "rtl" : "ltr";
}
const RIGHT_TO_LEFT = new Set("Arab Aran Hebr Syrc Thaa Nkoo Adlm Rohg Mand Samr".split(" "));

function languageTag(code) {
  try { return Intl.getCanonicalLocales(code)[0]; } catch { return "und"; }
}

/* The weights of the model and of what the context has learned, which may have features of its own. */
function usualWeights() {
  return table(model().weights, learned.value?.weights);
}

/* The fields of requests about a sentence, with one of the two settings. Weights that were changed in a context are left
   out in others that do not have their features, and are there again in the first one. */
function fieldsOf(text, which, more = {}) {
  const { weights: changed, rules, hidden } = state.settings[which], usual = usualWeights();
  const weights = table(Object.fromEntries(Object.entries(changed).filter(([name]) => name in usual)));
  const fields = { model: state.model, text, weights, rules, hidden, ...more };
  if (state.context) fields.context = state.context;
  if (state.phrases[text]) fields.phrases = state.phrases[text];
  return fields;
}

function translation(text, which) {
  return ask("api/translate", fieldsOf(text, which, { split: false, details: true, alternatives: 5 }));
}

/* Changes of the state, and the link. */

/* Draws at once, so that nobody clicks or writes into what shows the state before. */
function change(fields) {
  changeSoon(fields);
  draw();
}

/* For fields that are left: drawing at once could replace what is just getting the focus. */
function changeSoon(fields) {
  Object.assign(state, fields);
  message = "";
  forget(answer => answer.error && isPassing(answer.error));  // it is asked for again
  schedule();
}

function changeSettings(which, fields, apply = change) {
  apply({ settings: state.settings.map((settings, k) => k === which ? { ...settings, ...fields } : settings) });
}

/* Draws soon: answers often come several at a time. */
function schedule() {
  if (!frame) frame = requestAnimationFrame(draw);
}

function writeLink() {
  clearTimeout(linkTimer);
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const link = "#" + btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_");
  if (link !== location.hash) history.replaceState(null, "", link);
}

function readLink() {
  clearTimeout(linkTimer);
  if (location.hash.length < 2) return;
  try {
    const bytes = atob(location.hash.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
    const fields = JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, byte => byte.charCodeAt(0))));
    for (const [name, isRight] of Object.entries(SHAPES)) if (!isRight(fields[name])) throw new Error(name);
    for (const name of ["wanted", "phrases", "prefix"]) fields[name] = table(fields[name]);
    for (const settings of fields.settings) settings.weights = table(settings.weights);
    for (const name of Object.keys(state)) state[name] = fields[name];
    message = "";
  } catch {
    note("The link cannot be read.");
  }
}

/* Leaves out what the server does not take in names of contexts. */
function asName(text) {
  return text.replace(/[^\p{L}\p{N}_.-]/gu, "");
}

/* What the values of a link must be. */
const isText = value => typeof value === "string";
const listOf = isRight => value => Array.isArray(value) && value.every(isRight);
const tableOf = isRight => value => Object.prototype.toString.call(value) === "[object Object]" && Object.values(value).every(isRight);
const isSpan = value => listOf(Number.isInteger)(value) && value.length === 2 && 0 <= value[0] && value[0] < value[1];
const isSettings = value => tableOf(() => true)(value) && tableOf(Number.isFinite)(value.weights) && listOf(isText)(value.rules) && listOf(isText)(value.hidden);
const isPhrase = value => Array.isArray(value) && value.length === 3 && isSpan(value.slice(0, 2)) && isText(value[2]);
const SHAPES = {
  model: isText, context: value => isText(value) && value === asName(value), text: isText,
  settings: value => listOf(isSettings)(value) && value.length === 2, compare: value => typeof value === "boolean",
  active: value => value === 0 || value === 1, sentence: value => Number.isInteger(value) && value >= 0,
  view: value => isText(value) && Object.hasOwn(VIEWS, value), span: value => value === null || isSpan(value),
  wanted: tableOf(isText), phrases: tableOf(listOf(isPhrase)), prefix: tableOf(isText),
};

/* Says something until the next change. */
function note(text) {
  message = text;
  $("status").textContent = text;
}

/* Tells users of screen readers what changed, in a place that is always there: new places are not read out. */
function announce(text) {
  if ($("announcement").textContent !== text) $("announcement").textContent = text;
}

/* Drawing. */

function draw() {
  cancelAnimationFrame(frame);
  frame = 0;
  if (pressed || !models.length) return;  // a button that is replaced while it is pressed is not clicked
  if (!model()) state.model = models[0].name;
  needed = new Set();
  askSentences();
  askContext();
  const { sentences } = split;
  if (split.isDone) state.sentence = Math.max(0, Math.min(state.sentence, sentences.length - 1));
  setValue($("source"), state.text);
  setValue($("context"), state.context);
  $("model").value = state.model;
  $("compare").checked = state.compare;
  drawOutputs(sentences);
  drawInspection(sentences[Math.min(state.sentence, sentences.length - 1)]?.text);
  drawSettings();
  $("again").hidden = ![...needed].some(key => answers.get(key)?.error && isPassing(answers.get(key).error));
  forget((answer, key) => answer.abort && !needed.has(key));
  clearTimeout(linkTimer);
  linkTimer = setTimeout(writeLink, 300);  // not each time: browsers refuse to write the address too often
}

/* Sets the value of a field, unless somebody writes there. */
function setValue(field, value) {
  if (field.value !== value && document.activeElement !== field) field.value = value;
}

/* Draws what is within an element, unless it shows that already by its key, a list of values: what somebody has folded,
   selected or begun to write there stays. Otherwise the part that had the focus gets it back, or what is around it. */
function redraw(place, key, make) {
  if (isShown(place, key)) return;
  const hadFocus = place.contains(document.activeElement) && document.activeElement !== place;
  const part = document.activeElement?.dataset.focus;
  shownKeys.set(place, key);
  place.replaceChildren(...[make()].flat(Infinity).filter(Boolean));
  if (hadFocus) (part && place.querySelector(`[data-focus="${CSS.escape(part)}"]`) || place).focus({ preventScroll: true });
}
const shownKeys = new WeakMap();

function isShown(place, key) {
  const shown = shownKeys.get(place);
  return shown?.length === key.length && key.every((value, k) => value === shown[k]);
}

function drawOutputs(sentences) {
  const lines = sentences.map(sentence => sentence.text);
  const shownSettings = state.compare ? [0, 1] : [state.active];
  const translations = shownSettings.map(which => lines.map(line => translation(line, which)));
  const all = translations.flat();
  redraw($("outputs"), [model(), state.compare, state.active, ...sentences.map(sentence => sentence.line)], () =>
    shownSettings.map(which => {
      const name = state.compare ? `translation ${"AB"[which]}` : "translation";
      return element("div", { role: "group", "aria-label": name }, element("h2", {}, name),
        element("div", { class: "output", lang: languageTag(model().target), dir: direction(model().target) },
          sentences.map(({ line }, k) => [k ? line > sentences[k - 1].line ? "\n" : " " : "", sentenceButton(which, k)])));
    }));
  const [buttons, others] = [$("outputs").querySelectorAll(".sentence"), state.compare ? translations.toReversed().flat() : []];
  all.forEach((answer, place) => drawSentence(buttons[place], answer, others[place], place % lines.length === state.sentence));
  const errors = new Set([split, learned, ...all].map(answer => answer?.error?.message).filter(Boolean));
  const active = translations[shownSettings.indexOf(state.active)].map(answer => answer?.value).filter(Boolean);
  const milliseconds = active.reduce((sum, value) => sum + value.milliseconds, 0);
  $("status").textContent = message || [...errors].join(" ") || (!split.isDone || all.some(answer => !answer) ? "translating …" :
    active.some(value => value.sentences[0]?.late) ? "The time for a request ended a search." :
      active.length ? `${number(milliseconds, 0)} ms` : "");
}

function sentenceButton(which, k) {
  return element("button", {
    type: "button", class: "sentence", "data-focus": `s${which}-${k}`, onclick: () => change({ sentence: k, active: which, span: null }),
  });
}

/* Draws a translation in its button. Each has its own key: long texts have hundreds, and an answer changes one. */
function drawSentence(button, answer, other, isChosen) {
  button.classList.toggle("chosen", isChosen);
  button.setAttribute("aria-pressed", String(isChosen));
  redraw(button, [answer, other], () => {
    const sentence = answer?.value?.sentences[0];
    if (!sentence) return answer?.error ? "✕" : "…";
    const otherTokens = other?.value?.sentences[0]?.tokens;
    return sentence.text ? placedWords(sentence).map(([part, j]) => j == null ? part : element("span", {
      class: "word", style: `--sure:${(sentence.confidence[j] ?? 1).toFixed(2)}`,
      "data-differs": otherTokens && !otherTokens.includes(sentence.tokens[j]) ? "" : null,
    }, part)) : "∅";
  });
}

/* Finds tokens in the text that they were written as: pairs of a part of the text and the token that it is, if any. */
function placedWords(sentence) {
  const parts = [], lower = sentence.text.toLowerCase();
  let at = 0;
  sentence.tokens.forEach((token, j) => {
    const plain = token.replaceAll("￭", "");
    const begin = lower.indexOf(plain.toLowerCase(), at);
    if (begin < 0 || !plain || begin > at + 3) return;
    if (begin > at) parts.push([sentence.text.slice(at, begin), null]);
    at = begin + plain.length;
    parts.push([sentence.text.slice(begin, at), j]);
  });
  if (at < sentence.text.length) parts.push([sentence.text.slice(at), null]);
  return parts;
}

/* The selected sentence. */

function drawInspection(text) {
  $("inspect").hidden = !text;
  redraw($("tabs"), [state.view], () => Object.entries(VIEWS).map(([view, { name }]) => element("button", {
    type: "button", role: "tab", id: `tab-${view}`, "aria-controls": "view", "aria-selected": String(view === state.view),
    tabindex: view === state.view ? 0 : -1, "data-focus": view, onclick: () => change({ view }), onkeydown: tabKeys,
  }, name)));
  $("view").setAttribute("aria-labelledby", `tab-${state.view}`);
  if (text) VIEWS[state.view].draw($("view"), text, translation(text, state.active));
}

/* Tells whether an answer is there that the view of a sentence needs. Until it is, what the view shows of the sentence
   stays; an error takes its place, with a way back from chosen phrases, which may be what it is about. */
function isReady(place, text, answer) {
  place.setAttribute("aria-busy", String(!answer));
  if (answer?.value) return true;
  if (answer) announce(answer.error.message);
  const [view, shownText] = shownKeys.get(place) || [];
  if (answer || view !== state.view || shownText !== text)
    redraw(place, [state.view, text, answer], () => [element("p", {}, answer ? answer.error.message : "…"), answer && undoChoices(text)]);
  return false;
}

function tabKeys(event) {
  const views = Object.keys(VIEWS), at = views.indexOf(state.view);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: views.length - 1 }[event.key];
  if (to == null) return;
  event.preventDefault();
  change({ view: views[(to + views.length) % views.length] });
  $(`tab-${state.view}`).focus();
}

function viewWords(place, text, answer) {
  if (!isReady(place, text, answer)) return;
  const [sentence] = answer.value.sentences;
  const chart = state.span && ask("api/chart", fieldsOf(text, state.active, { span: state.span, items: 60 }));
  place.setAttribute("aria-busy", String(Boolean(state.span && !chart)));
  const directions = [direction(model().source), direction(model().target)];
  const select = (kind, k) => {
    change({ span: spanOf(sentence, kind, k) });
    const hint = place.querySelector(".hint");
    if (state.span || !hint) return;  // it is not there while another translation is awaited
    hint.replaceChildren("“", element("bdi", {}, sentence.tokens[k]), "” is linked with no word of the source.");
    announce(hint.textContent);
  };
  redraw(place, ["words", text, sentence, state.span, state.phrases[text], chart], () => [
    alignmentRows(sentence, directions, select), phraseAlternatives(text, sentence, chart), sentence.alternatives.length > 0 &&
      [element("h3", {}, "other translations of the sentence"), candidateList(sentence.alternatives)]]);
}

/* The source span of a word: itself, or those that it is linked with and all between, or null if there are none. */
function spanOf(sentence, kind, k) {
  const places = kind === "s" ? [k] : sentence.alignment.filter(pair => pair[1] === k).map(pair => pair[0]);
  return places.length ? [Math.min(...places), Math.max(...places) + 1] : null;
}

/* A button that undoes the phrases that were chosen for a sentence, if there are any. */
function undoChoices(text) {
  return (state.phrases[text] || []).length > 0 && element("button", {
    type: "button", "data-focus": "undo-choices", onclick: () => change({ phrases: table(state.phrases, { [text]: undefined }) }),
  }, "undo choices");
}

function phraseAlternatives(text, sentence, chart) {
  if (!state.span) return [element("p", { class: "hint" }, "Choose a word to see other translations of it."), undoChoices(text)];
  const [begin, end] = state.span;
  const texts = [...new Set((chart?.value?.items || []).map(item => item.text).filter(Boolean))].slice(0, 12);
  const others = (state.phrases[text] || []).filter(([from, to]) => to <= begin || end <= from);
  const choose = translated => change({ phrases: table(state.phrases, { [text]: [...others, [begin, end, translated]] }) });
  const widen = [[begin - 1, end, "one word more before"], [begin, end + 1, "one word more after"]]
    .filter(([from, to]) => from >= 0 && to <= sentence.source.length);
  const about = sentence.source.slice(begin, end).join(" ");
  if (chart?.value) announce(`${texts.length} translations of ${about}`);
  return element("div", { class: "alternatives", role: "group", "aria-label": "alternatives" },
    element("h3", {}, "other translations of ", element("bdi", {}, about)),
    chart?.error ? element("p", {}, chart.error.message) : null,
    texts.map(translated => [element("button", { type: "button", class: "choice", "data-focus": `a${translated}`, onclick: () => choose(translated) },
      element("bdi", {}, translated)), " "]),
    widen.map(([from, to, name]) => [element("button", { type: "button", class: "plain", "data-focus": name, onclick: () => change({ span: [from, to] }) },
      name), " "]),
    undoChoices(text));
}

function candidateList(candidates) {
  return element("ol", { class: "others" }, candidates.map(({ text, score }) => element("li", {},
    element("bdi", { dir: direction(model().target) }, text), " ", element("span", { class: "score" }, number(score)))));
}

function viewDerivation(place, text, answer) {
  if (!isReady(place, text, answer)) return;
  const { sentences: [sentence], weights } = answer.value;
  redraw(place, ["derivation", text, sentence], () => {
    if (!sentence.derivation) return element("p", {}, "No rules translate this sentence.");
    const aside = element("aside", {}, featureTable(sentence.features, weights, "the whole translation"));
    const show = rule => aside.replaceChildren(...ruleDetails(rule, weights));
    return element("div", { class: "columns" }, derivationTree(sentence.derivation, show), aside);
  });
}

/* The features of a rule, and what can be done with it. */
function ruleDetails(rule, weights) {
  const which = state.active, sides = `[${rule.label}] ||| ${rule.source} ||| ${rule.target}`;
  const actions = rule.label && rule.table && element("p", {},
    element("button", { type: "button", onclick: () => replaceRule(which, sides, []) }, "hide this rule"), " ",
    element("button", { type: "button", onclick: () => editRule(which, sides, rule.features) }, "edit this rule"));
  announce(`${rule.source} → ${rule.target}, score ${number(rule.score)}`);
  return [...ruleFeatures(rule, weights), actions || ""];
}

/* Hides a rule of the model, and puts lines into the place of those that added it. */
function replaceRule(which, sides, lines) {
  const { hidden, rules } = state.settings[which];
  changeSettings(which, { hidden: [...new Set([...hidden, sides])], rules: [...rules.filter(line => sidesOf(line) !== sides), ...lines] });
}

/* Puts a line with the features of a rule into its place, to be edited in the settings. */
function editRule(which, sides, features) {
  const values = Object.entries(features).filter(([name]) => model().rule_features.includes(name));
  const line = `${sides} ||| ${values.map(([name, value]) => `${name}=${value}`).join(" ")}`;
  replaceRule(which, sides, [state.settings[which].rules.find(rule => sidesOf(rule) === sides) ?? line]);
  $("rules").focus();
}

/* The label, source and target of a rule's line, without its features. */
function sidesOf(line) {
  return line.split("|||").slice(0, 3).map(side => side.trim().replace(/\s+/g, " ")).join(" ||| ");
}

function viewChart(place, text, answer) {
  const chartAnswer = ask("api/chart", fieldsOf(text, state.active, { span: state.span, items: 30 }));
  if (!isReady(place, text, answer?.error ? answer : answer && chartAnswer)) return;
  redraw(place, ["chart", text, chartAnswer], () => {
    const chart = chartAnswer.value, details = element("div");
    const show = item => details.replaceChildren(...ruleDetails(item.rule, answer.value.weights));
    return element("div", { class: "columns" },
      element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "chart", "data-focus": "chart" },
        chartTriangle(chart, span => change({ span }), state.span)),
      element("aside", {}, state.span ? cellItems(chart, show) :
        element("p", { class: "hint" }, "Choose a cell. A corner marks cells that lost items by pruning."), details));
  });
}

/* What is in the chosen cell. */
function cellItems(chart, onselect) {
  const about = chart.source.slice(...state.span).join(" ");
  announce(`${chart.items.length || "no"} items for ${about}`);
  return [element("h3", {}, `${state.span.join(":")} `, element("bdi", {}, about)),
    chart.items.length ? itemList(chart.items, onselect) : element("p", {}, "nothing is there")];
}

/* The form stays in its place while somebody writes there; it is filled in anew for another sentence or question. */
function viewWhy(place, text, answer) {
  redraw(place, ["why"], () => [element("form", {}, element("label", { for: "wanted" }, "the translation that you wanted"),
    element("textarea", { id: "wanted", rows: 2, spellcheck: "false" }), element("button", { type: "submit" }, "why not?")),
  element("div", { id: "reason", tabindex: -1 })]);
  place.setAttribute("aria-busy", String(!answer));
  const field = $("wanted"), wanted = state.wanted[text], draftKey = [model(), text, state.active, wanted];
  if (!isShown(field, draftKey)) {
    field.value = wanted ?? answer?.value?.sentences[0]?.text ?? "";
    if (wanted || answer) shownKeys.set(field, draftKey);
  }
  field.dir = direction(model().target);
  field.form.onsubmit = event => {
    event.preventDefault();
    change({ wanted: table(state.wanted, { [text]: field.value }) });
  };
  const isAsked = Boolean(wanted?.trim());
  const whyAnswer = isAsked && ask("api/why-not", fieldsOf(text, state.active, { wanted }));
  if (isAsked && !isReady($("reason"), text, whyAnswer)) return;
  redraw($("reason"), ["why", text, whyAnswer], () => isAsked ? reason(whyAnswer.value) : []);
  if (isAsked) announce([...$("reason").querySelectorAll("p")].map(paragraph => paragraph.textContent).join(" "));
}

function reason(why) {
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
  const { span, text, made: wasMade, rank, rule, score, winners } = why.pruned;
  return [element("p", {}, "A part of it was ", element("strong", {}, "pruned"),
    `: “${text}” for ${span.join(":")} (${why.source.slice(...span).join(" ")}). `,
    wasMade ? "Search made it and dropped it." : "Search did not come to it.", ` By its score it has rank ${rank} in its cell.`),
  element("p", {}, ruleLine(rule), " ", element("span", { class: "score" }, number(score))),
  element("h3", {}, "what is there instead"), candidateList(winners), ...compared];
}

/* Returns what is typed with single blanks, as translations are written. */
function singleBlanks(typed) {
  return typed.trimStart().replace(/\s+/g, " ");
}

/* Returns how a translation goes on after its beginning, or undefined if it begins otherwise. */
function restAfter(beginning, whole) {
  return `${whole} `.startsWith(beginning) ? whole.slice(beginning.length) : undefined;
}

/* Interactive translation: what is typed is a prefix, and the server completes it. The field stays in its place, since
   whoever composes characters in it would be interrupted. */
function viewEdit(place, text) {
  redraw(place, ["edit"], editBox);
  const typed = state.prefix[text] ?? "", field = $("edit"), rest = $("rest");
  if (field.dataset.text !== text) [field.value, rest.textContent] = [typed, ""];  // what they have is of another sentence
  field.dataset.text = text;
  field.dir = rest.dir = direction(model().target);
  setValue(field, typed);
  const beginning = singleBlanks(typed);
  const answer = ask("api/translate", fieldsOf(text, state.active, { split: false, prefix: beginning }));
  const end = answer && restAfter(beginning, answer.value?.sentences[0]?.text ?? "");
  place.setAttribute("aria-busy", String(!answer));
  if (answer) rest.textContent = end ?? "";  // until then, it stays
  const problem = answer?.error ? answer.error.message :
    answer && end === undefined ? "No translation of the model goes on like this." : "";
  $("edit-note").textContent = problem;
  announce(problem);
  const { model: name, context: contextName } = state, target = beginning + rest.textContent;
  $("learn").disabled = teaching || !answer?.value || !contextName || !target.trim();
  $("learn").onclick = () => {
    const started = performance.now();
    teach("api/correct", { model: name, context: contextName, source: text, target }, ({ id }) => {
      if (state.prefix[text] === typed) state.prefix = table(state.prefix, { [text]: undefined });
      return `Learned correction ${id} in ${number((performance.now() - started) / 1000, 2)} s.`;
    });
  };
  $("teach-note").textContent = contextName ? `Corrections are kept in the context ${contextName}.` : "Name a context above to teach the model.";
}

function editBox() {
  const field = element("textarea", { id: "edit", rows: 3, spellcheck: "false", "aria-describedby": "edit-help" });
  const rest = element("output", { id: "rest", for: "edit", "aria-label": "the rest of the translation" });
  let leaving = false, before = "";
  const type = () => {
    const whole = singleBlanks(before) + rest.textContent;  // which goes on at once where what is typed agrees
    rest.textContent = restAfter(singleBlanks(field.value), whole) ?? "";
    before = field.value;
    change({ prefix: table(state.prefix, { [field.dataset.text]: field.value }) });
  };
  /* Takes the next word of what the model suggests. */
  const accept = () => {
    const next = /^\s*\S+\s?/.exec(rest.textContent);
    if (!next) return false;
    before = field.value;
    field.value += next[0];
    type();
    return true;
  };
  field.addEventListener("beforeinput", event => { if (!event.isComposing) before = field.value; });
  field.addEventListener("input", event => { if (!event.isComposing) type(); });
  field.addEventListener("compositionstart", () => { before = field.value; });
  field.addEventListener("compositionend", type);
  field.addEventListener("keydown", event => {
    if (event.isComposing) return;
    if (event.key === "Escape") leaving = true;
    else if (event.key === "Tab" && !event.shiftKey && !leaving && accept()) event.preventDefault();
    else if (event.key !== "Tab" && event.key !== "Shift") leaving = false;
  });
  return element("div", { class: "edit" }, element("label", { for: "edit" }, "translation, as you type it"), field, rest,
    element("p", { class: "hint", id: "edit-help" }, "Tab takes the next word; Escape and then Tab leaves the field."),
    element("p", { id: "edit-note" }),
    element("button", { type: "button", id: "accept", onclick: accept }, "take a word"), " ",
    element("button", { type: "button", id: "learn" }, "this is right: learn"), " ",
    element("span", { class: "hint", id: "teach-note" }));
}

/* Has a context learn or forget something, once: after an error nobody knows whether the server did it. `tell` returns
   what to say of the answer. */
async function teach(path, fields, tell) {
  if (teaching) return;
  teaching = true;
  change({});
  let result;
  try {
    result = tell(await send(path, fields, { tries: 1 }));
  } catch (error) {
    result = error.message;
  }
  teaching = false;
  forget();
  change({});
  note(result);
}

/* Settings: weights, rules, corrections. */

function drawSettings() {
  const place = $("settings");
  place.hidden = false;
  const isWritten = place.contains(document.activeElement) && document.activeElement.matches("input, textarea");
  if (isWritten) return;  // it is drawn when the field is left
  const which = state.active;
  redraw(place, settingsKey(), () => [
    state.compare && element("div", { class: "which", role: "group", "aria-label": "settings to change" }, [0, 1].map(k => element("button", {
      type: "button", "aria-pressed": String(k === which), "data-focus": `which${k}`, onclick: () => change({ active: k }),
    }, `settings ${"AB"[k]}`))),
    element("div", { class: "panels" }, weightPanel(which), rulePanel(which), learned.value && contextPanel(learned.value)),
  ]);
}

function settingsKey() {
  return [model(), state.active, state.compare, state.settings[state.active], learned.path, learned.value];
}

function weightPanel(which) {
  return element("details", { open: true }, element("summary", { "data-focus": "weights" }, "weights"),
    element("div", { class: "weights" }, Object.entries(usualWeights()).map(([name, value]) => weightRow(which, name, value))),
    element("button", { type: "button", "data-focus": "usual", onclick: () => changeSettings(which, { weights: table() }) }, "as in the model"));
}

function weightRow(which, name, usual) {
  const changed = state.settings[which].weights;
  const value = changed[name] ?? usual;
  const most = Math.max(0.2, 3 * Math.abs(usual));
  const set = (field, other) => {
    const chosen = Number(field.value);
    if (!Number.isFinite(chosen) || field.value === "") return;
    const weights = table(state.settings[which].weights, { [name]: chosen });
    if (chosen === usual) delete weights[name];
    const place = $("settings"), wasShown = isShown(place, settingsKey());
    changeSettings(which, { weights }, changeSoon);
    other.value = Number(chosen.toPrecision(4));
    row.classList.toggle("changed", name in weights);
    if (wasShown) shownKeys.set(place, settingsKey());  // this row does show it, and a slider that is dragged must stay
  };
  const slider = element("input", { type: "range", min: -most, max: most, step: most / 200, "aria-label": `weight of ${name}`, "data-focus": `w-${name}`, oninput: () => set(slider, exact) });
  const exact = element("input", { type: "number", step: "any", "aria-label": `weight of ${name}, as a number`, "data-focus": `n-${name}`, onchange: () => set(exact, slider) });
  slider.value = value;
  exact.value = Number(value.toPrecision(4));
  const row = element("div", { class: "weight" + (name in changed ? " changed" : "") }, element("span", {}, name), slider, exact);
  return row;
}

function rulePanel(which) {
  const settings = state.settings[which];
  const lines = (id, name) => {
    const box = element("textarea", { id, rows: 3, "data-focus": id, spellcheck: "false", placeholder: "source ||| target", onchange: event =>
      changeSettings(which, { [id]: event.target.value.split("\n").map(asRule).filter(Boolean) }, changeSoon) });
    box.value = settings[id].join("\n");
    return [element("label", { for: id }, name), box];
  };
  return element("details", { open: settings.rules.length + settings.hidden.length > 0 },
    element("summary", { "data-focus": "lines" }, "rules"), lines("rules", "rules to add, one a line"),
    lines("hidden", "rules to hide, one a line"));
}

/* Completes a rule: its label may be left out. */
function asRule(line) {
  const text = line.trim();
  return !text ? "" : /^\[[^\]]+\] \|\|\| /.test(text) ? text : `[X] ||| ${text}`;
}

function contextPanel(context) {
  const { model: name, context: contextName } = state;
  const undo = id => teach("api/undo", { model: name, context: contextName, id }, () => `Correction ${id} is forgotten.`);
  return element("details", { open: true },
    element("summary", { "data-focus": "corrections" }, `corrections (${context.corrections.length}, ${context.rules} rules)`),
    element("ol", { class: "corrections" }, context.corrections.toReversed().map(({ id, source, target }) => element("li", { value: id },
      element("bdi", { dir: direction(model().source) }, source), " → ", element("bdi", { dir: direction(model().target) }, target), " ",
      element("button", {
        type: "button", class: "plain", "data-focus": `undo${id}`, "aria-label": `undo correction ${id}`, onclick: () => undo(id),
      }, "undo")))));
}

/* Draws what came while a button was pressed. */
function release() {
  pressed = false;
  schedule();
}

/* Start. */

async function start() {
  $("again").hidden = true;
  try {
    models = await send("api/models", null);
  } catch (error) {
    note(error.message);
    $("again").hidden = false;
    return;
  }
  $("model").replaceChildren(...models.map(({ name, source, target }) => element("option", { value: name }, `${name} (${source} → ${target})`)));
  schedule();
}

addEventListener("pointerdown", event => { pressed = event.button === 0 && Boolean(event.target.closest("button, summary, .line, .cell")); });
addEventListener("keydown", event => { pressed ||= event.key === " " && event.target.matches("button, summary"); });
addEventListener("keyup", event => { if (event.key === " ") release(); });
for (const type of ["pointerup", "pointercancel", "contextmenu", "blur"]) addEventListener(type, release);
$("settings").addEventListener("focusout", schedule);
$("source").addEventListener("input", event => change({ text: event.target.value }));
$("model").addEventListener("change", event => change({
  model: event.target.value, settings: emptySettings(), active: 0, span: null, wanted: table(), phrases: table(), prefix: table(),
}));
$("context").addEventListener("change", event => changeSoon({ context: asName(event.target.value) }));
$("compare").addEventListener("change", event => change({ compare: event.target.checked, active: 0 }));
$("key-form").addEventListener("submit", event => { event.preventDefault(); forget(); start(); });
$("link").addEventListener("click", () => {
  writeLink();
  navigator.clipboard?.writeText(location.href).catch(() => {});  // then it is in the address all the same
  note("The link has the whole state of this page.");
});
$("again").addEventListener("click", () => models.length ? change({}) : start());
addEventListener("hashchange", () => {
  document.activeElement.blur();  // a field that is written in would not show the new state
  readLink();
  schedule();
});
readLink();
start();

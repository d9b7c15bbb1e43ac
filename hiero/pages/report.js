/* Reports: buttons that copy commands, and forms that show all sentences of a test set, filtered and sorted.
   A sentence is a list, as hiero/pages/sentences.py makes it. */
const STEP = 50;
const collapse = text => text.trim().replace(/\s+/g, " ");

function copyText(text, node) {
  const byHand = () => {
    getSelection().selectAllChildren(node);
    return document.execCommand("copy") ? Promise.resolve() : Promise.reject();
  };
  return navigator.clipboard ? navigator.clipboard.writeText(text).catch(byHand) : byHand();
}

for (const box of document.querySelectorAll(".command")) {
  const button = makeElement("button", "copy"), command = box.querySelector("pre");
  button.type = "button";
  button.onclick = () => copyText(command.textContent, command)
    .then(() => "copied", () => "select it, then copy")
    .then(said => {
      button.textContent = said;
      setTimeout(() => { button.textContent = "copy" }, 2000);
    });
  box.prepend(button);
}

function withDirection(name, ...content) {
  const text = makeElement("dd", "", ...content);
  text.dir = "auto";
  return [makeElement("dt", name), text];
}

function differenceNodes(runs) {
  return runs.flatMap(([kind, text], place) => {
    const content = text.trimStart(), space = text.slice(0, text.length - content.length);
    const tag = { "-1": "del", "1": "ins" }[kind];
    return [place ? space : "", tag ? makeElement(tag, content) : content];
  });
}

function signed(value) {
  const text = Math.abs(value).toFixed(2);
  return (value < 0 && text !== "0.00" ? "-" : "+") + text;
}

function drawSentence(set, [number, words, source, references, first, differences, scores, anchor]) {
  const title = `Sentence ${number}`, [system, ...others] = set.systems;
  const facts = scores.map((score, k) =>
    `${set.systems[k]} ${score.toFixed(2)}` + (k ? ` (${signed(score - scores[0])})` : ""));
  const count = `${words.toLocaleString("en-US")} word${words === 1 ? "" : "s"}`;
  const dim = makeElement("span", `${set.metric}: ${facts.join(", ")}; ${count}`);
  dim.className = "dim";
  const link = anchor ? makeElement("a", title) : title;
  if (anchor) link.href = "#" + anchor;
  const same = others.filter((name, k) => differences[k] === null);
  const list = makeElement("dl", "", ...[
    ["source", source],
    ...references.map((text, k) => [references.length > 1 ? `reference ${k + 1}` : "reference", text]),
    [[system, ...same].join(", "), first],
    ...others.flatMap((name, k) => differences[k] ? [[name, ...differenceNodes(differences[k])]] : []),
  ].flatMap(row => withDirection(...row)));
  const box = makeElement("div", "", makeElement("h4", "", link, " ", dim), list);
  box.className = "example";
  return box;
}

/* The texts of a sentence in lower case, the words of the other systems included. */
function searchable([, , source, references, first, differences]) {
  const others = differences.filter(runs => runs).map(runs => runs.filter(([kind]) => kind >= 0).map(run => run[1]).join(""));
  return collapse([source, ...references, first, ...others].join(" ")).toLowerCase();
}

function sortKey(order, system) {
  return {
    number: row => row[0],
    worst: row => row[6][system],
    best: row => -row[6][system],
    gained: row => row[6][0] - row[6][system],
    lost: row => row[6][system] - row[6][0],
    short: row => row[1],
    long: row => -row[1],
  }[order];
}

for (const form of document.querySelectorAll(".browse")) {
  const set = data.sets[form.dataset.set], list = form.querySelector(".sentences");
  const more = form.querySelector(".more"), said = form.querySelector("output");
  let texts = null, found = [], drawn = 0;

  const drawMore = () => {
    list.append(...found.slice(drawn, drawn + STEP).map(row => drawSentence(set, row)));
    drawn = Math.min(drawn + STEP, found.length);
    more.hidden = drawn === found.length;
    const number = value => value.toLocaleString("en-US");
    said.textContent = `${number(found.length)} of ${number(set.rows.length)} sentences found, ${number(drawn)} shown`;
  };
  const search = () => {
    const wanted = collapse(form.elements.words.value).toLowerCase().split(" ").filter(word => word);
    const least = Number(form.elements.least.value);
    if (wanted.length && !texts) texts = set.rows.map(searchable);
    const key = sortKey(form.elements.order.value, Number(form.elements.system?.value ?? set.systems.length - 1));
    found = set.rows
      .filter((row, place) => row[1] >= least && wanted.every(word => texts[place].includes(word)))
      .sort((a, b) => key(a) - key(b));
    drawn = 0;
    list.replaceChildren();
    drawMore();
  };
  form.oninput = search;
  form.onsubmit = event => event.preventDefault();
  more.onclick = drawMore;
  search();
}

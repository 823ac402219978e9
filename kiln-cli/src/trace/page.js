"use strict";
// The timeline of a page: rows of spans on a canvas as large as the window's part, of which only what is visible is drawn.
const trace = JSON.parse(document.getElementById("data").textContent);
const KINDS = {
  "arithmetic": "--arithmetic", "control": "--control", "tensor core": "--tensor",
  "global load": "--load", "global store": "--store", "shared memory": "--shared",
  "local memory": "--local", "tensor memory": "--tmem", "copy": "--copy",
  "synchronisation": "--sync", "wait": "--wait", "stall": "--stall", "stuck": "--stuck",
  "phase": "--phase", "not run further": "--rest",
};
// Kinds on whose colours dark letters are read.
const PALE = new Set(["wait", "phase", "arithmetic", "control", "not run further"]);
// The times of a profile are nanoseconds, and its kinds are the phases that the kernel names.
const profile = !!trace.about && trace.about["made by"] === "kiln profile", UNIT = profile ? "ns" : "cycles";
if (profile) {
  const colours = Object.values(KINDS).filter((name) => !["--stuck", "--stall", "--rest"].includes(name));
  for (const kind of Object.keys(KINDS)) delete KINDS[kind];
  PALE.clear();
  [...new Set(trace.spans.map((span) => trace.texts[span[3]]))].forEach((kind, index) => {
    KINDS[kind] = colours[index * 5 % colours.length];
    if (["--wait", "--phase", "--arithmetic", "--control"].includes(KINDS[kind])) PALE.add(kind);
  });
}
const ROW = trace.rows.length > 12 ? 18 : 22, HEAD = 24, BLOCK = 20, MOST_ARROWS = 400;
const [ROWI, START, LENGTH, KIND, NAME, MORE] = [0, 1, 2, 3, 4, 5];
const element = (id) => document.getElementById(id);
const canvas = element("canvas"), frame = element("timeline"), pen = canvas.getContext("2d");
const end = Math.max(trace.end, 1), fault = (trace.about && trace.about.fault) || "";
// What never ends is drawn on past the end, with room for its words.
const reach = end * (!profile && trace.spans.some((span) => trace.texts[span[KIND]] === "stuck") ? 1.25 : 1.02);
let view = { from: 0, to: reach }, width = 0, visible = 0, label = 0;
let hovered = null, chosen = null, chosenRow = 0, search = "", focused = null;
let colours = {};

// Spans by row, in order of time; where each row is drawn.
const stopped = markRest();
const byRow = trace.rows.map(() => []);
for (const span of trace.spans) byRow[span[ROWI]].push(span);
for (const spans of byRow) spans.sort((a, b) => a[START] - b[START]);
const waits = addWaits();
const tops = [], heads = [];
let height = HEAD;
{
  let block = null;
  trace.rows.forEach(([process], index) => {
    if (process !== block) { heads.push([process, height]); height += BLOCK; block = process; }
    tops[index] = height;
    height += ROW;
  });
  height += 10;
}

// A fault other than a wait without end stops the warps that have no part in it where they are: nothing keeps them there.
function markRest() {
  if (profile || !fault || /^(deadlock|livelock|barrier divergence)/.test(fault)) return false;
  const kind = trace.texts.push("not run further") - 1;
  for (const span of trace.spans) {
    const words = trace.texts[span[NAME]];
    if (trace.texts[span[KIND]] === "stuck" && !fault.startsWith(words)) span[KIND] = span[NAME] = kind;
  }
  return true;
}

// The barriers on which warps wait without end: each gets a span that says what it lacks. From which warp to which barrier, and since when.
function addWaits() {
  const found = [], known = new Map(), words = (span, at) => trace.texts[span[at]];
  // A barrier has its name in back quotes, or the address of its lane.
  const barrier = (text) => (/`([^`]+)`|(0x[0-9a-f]+)/.exec(text) || []).slice(1).find(Boolean);
  for (const span of trace.spans.filter((span) => !profile && words(span, KIND) === "stuck")) {
    const name = words(span, NAME), process = trace.rows[span[ROWI]][0];
    if (!name.startsWith("waits for phase")) continue;
    const row = trace.rows.findIndex(([block, lane]) => block === process && !lane.startsWith("warp ")
      && lane.replace(/^mbarrier /, "") === barrier(name));
    if (row < 0) continue;
    if (!known.has(row)) {
      const since = byRow[row].reduce((last, other) => Math.max(last, other[START] + other[LENGTH]), 0);
      known.set(row, since);
      trace.texts.push(name.replace(/^waits for (phase parity \d).*?: /, "$1: "));
      const lacks = [row, since, end - since, span[KIND], trace.texts.length - 1, span[MORE]];
      byRow[row].push(lacks);
    }
    found.push([span[ROWI], Math.max(span[START], known.get(row)), row]);
  }
  return found;
}

const text = (number) => trace.texts[number];
const isStuck = (span) => !profile && text(span[KIND]) === "stuck";
const cycles = (n) => n.toLocaleString("en", { maximumFractionDigits: 1 });
const percent = (part) => (100 * part).toFixed(part < 0.095 ? 1 : 0) + "%";
const finish = (span) => isStuck(span) ? Infinity : span[START] + span[LENGTH];

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  colours = { back: get("--back"), text: get("--text"), faint: get("--faint"), line: get("--line"),
    panel: get("--panel"), accent: get("--accent"), fault: get("--fault") };
  for (const [kind, name] of Object.entries(KINDS)) colours[kind] = get(name);
}

function resize() {
  const scale = window.devicePixelRatio || 1;
  width = frame.clientWidth;
  visible = frame.clientHeight;
  pen.font = "12px system-ui, sans-serif";
  const widest = trace.rows.reduce((most, [, name]) => Math.max(most, pen.measureText(name).width), 60);
  label = Math.min(Math.ceil(widest) + 16, Math.max(Math.min(156, width * 0.4), width * 0.2));
  element("tall").style.height = Math.max(0, height - visible) + "px";
  canvas.style.width = width + "px";
  canvas.style.height = visible + "px";
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(visible * scale);
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  draw();
}

const x = (time) => label + (time - view.from) / (view.to - view.from) * (width - label);
const time = (px) => view.from + (px - label) / (width - label) * (view.to - view.from);
const y = (place) => place - frame.scrollTop;

// The first span of a row that ends after a time.
function firstAfter(spans, at) {
  let low = 0, high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (finish(spans[middle]) < at) low = middle + 1; else high = middle;
  }
  return low;
}

function gridStep() {
  const rough = (view.to - view.from) / Math.max(2, (width - label) / 90);
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
}

function ticks(each) {
  const size = gridStep();
  for (let i = Math.max(0, Math.ceil(view.from / size)); i * size <= view.to; i++) each(i * size, size);
}

function drawAxis() {
  pen.fillStyle = colours.panel;
  pen.fillRect(0, 0, width, HEAD - 2);
  pen.fillStyle = colours.faint;
  pen.font = "11px system-ui, sans-serif";
  pen.fillText(UNIT, 8, 15);
  ticks((at, size) => {
    const px = x(at), shown = size < 1 ? at.toFixed(2) : Math.round(at).toLocaleString("en");
    if (px >= label && px + 4 + pen.measureText(shown).width < width) pen.fillText(shown, px + 3, 15);
  });
}

const isFound = (span) => (!search || text(span[NAME]).toLowerCase().includes(search) || text(span[MORE]).toLowerCase().includes(search))
  && (!focused || text(span[KIND]) === focused);

function drawSpan(span, left, right, top) {
  const wide = Math.max(right - left, 1), kind = text(span[KIND]);
  pen.globalAlpha = (search || focused) && !isFound(span) ? 0.16 : 1;
  pen.fillStyle = colours[kind] || colours.accent;
  pen.fillRect(left, top, wide > 3 ? wide - 0.5 : wide, ROW - 4);
  if (wide > 34) {
    pen.fillStyle = kind === "stall" ? colours.text : PALE.has(kind) ? "#1c1f24" : "#ffffff";
    pen.font = "11px system-ui, sans-serif";
    pen.save();
    pen.beginPath();
    pen.rect(left, top, wide - 3, ROW);
    pen.clip();
    pen.fillText(text(span[NAME]), left + 4, top + ROW / 2 + 2);
    pen.restore();
  }
  pen.globalAlpha = 1;
  if (span === hovered || span === chosen) {
    pen.strokeStyle = colours.text;
    pen.lineWidth = span === chosen ? 2 : 1.2;
    pen.strokeRect(left + 0.5, top + 0.5, Math.max(wide - 1, 2), ROW - 5);
  }
}

function drawRow(index) {
  const spans = byRow[index], top = y(tops[index]) + 2;
  if (index === chosenRow && document.activeElement === canvas) {
    pen.fillStyle = colours.panel;
    pen.fillRect(label, top - 2, width, ROW);
  }
  let reached = -1;
  for (let i = firstAfter(spans, view.from); i < spans.length && spans[i][START] <= view.to; i++) {
    const span = spans[i];
    const left = Math.max(label, x(span[START])), right = Math.min(width, x(finish(span)));
    // Spans that share a pixel are drawn once.
    if (right <= reached && span !== chosen) continue;
    drawSpan(span, left, right, top);
    reached = Math.max(right, left + 1);
  }
}

const inside = (at, span) => at >= span[START] - 1e-3 && at <= finish(span) + 1e-3;
// An arrow leaves a warp's instruction from its start on, and a copy or product at its end; it comes to a wait at the end of that.
const NEAR = 5e-4;
const leaves = (arrow, span) => arrow[0] === span[ROWI] && (trace.rows[arrow[0]][1].startsWith("warp ")
  ? arrow[1] >= span[START] - NEAR && arrow[1] < finish(span) - NEAR
  : arrow[1] > span[START] + NEAR && arrow[1] <= finish(span) + NEAR);
const comes = (arrow, span) => arrow[2] === span[ROWI] && arrow[3] > span[START] + NEAR && arrow[3] <= finish(span) + NEAR;
const touches = (arrow, span) => span && (leaves(arrow, span) || comes(arrow, span));

function drawArrows() {
  const near = (arrow) => touches(arrow, hovered) || touches(arrow, chosen);
  const all = trace.arrows.filter((arrow) => Math.max(arrow[1], arrow[3]) >= view.from && Math.min(arrow[1], arrow[3]) <= view.to);
  // Of too many, only those of the span under the pointer say anything.
  const few = element("arrows").checked && all.length <= MOST_ARROWS ? all : all.filter(near);
  for (const arrow of few) {
    const strong = near(arrow);
    const [a, b, c, d] = [x(arrow[1]), y(tops[arrow[0]]) + ROW / 2, x(arrow[3]), y(tops[arrow[2]]) + ROW / 2];
    pen.strokeStyle = pen.fillStyle = strong ? colours.text : colours.accent;
    pen.globalAlpha = strong ? 1 : 0.6;
    pen.lineWidth = strong ? 2 : 1;
    pen.beginPath();
    pen.moveTo(a, b);
    const bend = Math.max(12, Math.abs(c - a) / 2);
    pen.bezierCurveTo(a + bend, b, c - bend, d, c, d);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(c, d);
    pen.lineTo(c - 6, d - 3);
    pen.lineTo(c - 6, d + 3);
    pen.fill();
    pen.globalAlpha = 1;
  }
}

// From what waits without end to the barrier that it waits on, and from one of two accesses that race to the other.
function drawFaults() {
  pen.strokeStyle = colours.fault;
  pen.lineWidth = 1.5;
  pen.setLineDash([5, 3]);
  const line = (from, a, to, b) => {
    const shift = Math.max(14, Math.abs(x(b) - x(a)) / 3), up = from === to ? ROW : 0;
    pen.beginPath();
    pen.moveTo(x(a), y(tops[from]) + ROW / 2);
    pen.bezierCurveTo(x(a) - shift * Math.sign(a - b || 1), y(tops[from]) + ROW / 2 + up,
      x(b) + shift * Math.sign(a - b || -1), y(tops[to]) + ROW / 2 + up, x(b), y(tops[to]) + ROW / 2);
    pen.stroke();
  };
  for (const [row, at, barrier] of waits) line(row, at, barrier, at);
  for (const [row, at, words] of profile ? [] : trace.marks) {
    const other = trace.marks.find((mark) => mark[2].startsWith(words.split(":")[0] + ": the other access"));
    if (other && other[2] !== words) line(other[0], other[1], row, at);
  }
  pen.setLineDash([]);
}

function drawMarks() {
  const written = [];
  for (const [row, at, words] of trace.marks) {
    if (at < view.from || at > view.to) continue;
    const px = x(at), top = y(tops[row]);
    pen.fillStyle = profile ? colours.faint : colours.fault;
    pen.fillRect(px - 1, top, 2, ROW);
    pen.beginPath();
    pen.moveTo(px - 6, top - 2);
    pen.lineTo(px + 6, top - 2);
    pen.lineTo(px, top + 8);
    pen.fill();
    if (profile) continue;
    pen.font = "600 11px system-ui, sans-serif";
    const said = words.includes(": the other access") ? "the other access" : words.split(":")[0].replace(/^[A-Z]\d+ /, "");
    const size = pen.measureText(said).width + 10, left = px - 8 - size < label ? px + 8 : px - 8 - size;
    // Below words that are there already.
    let line = top;
    while (written.some(([from, to, at]) => at === line && from < left + size && to > left)) line += ROW;
    written.push([left, left + size, line]);
    pen.fillRect(left, line + 1, size, ROW - 4);
    pen.fillStyle = colours.back;
    pen.fillText(said, left + 5, line + ROW / 2 + 3);
  }
}

function drawLabels() {
  pen.fillStyle = colours.back;
  pen.fillRect(0, HEAD, label, visible);
  for (const [process, place] of heads) {
    pen.fillStyle = colours.panel;
    pen.fillRect(0, y(place), width, BLOCK - 2);
    pen.fillStyle = colours.text;
    pen.font = "600 12px system-ui, sans-serif";
    pen.fillText(process, 8, y(place) + 13);
  }
  pen.font = "12px system-ui, sans-serif";
  trace.rows.forEach(([, name], index) => {
    const top = y(tops[index]);
    if (top < -ROW || top > visible) return;
    pen.fillStyle = index === chosenRow && document.activeElement === canvas ? colours.text : colours.faint;
    pen.save();
    pen.beginPath();
    pen.rect(0, top, label - 6, ROW);
    pen.clip();
    pen.fillText(name, 8, top + ROW / 2 + 4);
    pen.restore();
  });
}

function draw() {
  pen.fillStyle = colours.back;
  pen.fillRect(0, 0, width, visible);
  pen.save();
  pen.beginPath();
  pen.rect(label, HEAD - 4, width, visible);
  pen.clip();
  pen.fillStyle = colours.line;
  ticks((at) => pen.fillRect(x(at), HEAD - 4, 1, visible));
  tops.forEach((place, index) => { if (y(place) > -ROW && y(place) < visible) drawRow(index); });
  drawArrows();
  drawFaults();
  drawMarks();
  pen.restore();
  drawLabels();
  drawAxis();
}

function show(from, size) {
  size = Math.min(reach * 1.2, Math.max(2, size));
  from = Math.max(-end * 0.02, Math.min(from, end * 1.02 - size * 0.5));
  view = { from, to: from + size };
  draw();
}
const zoom = (factor, at) => show(at - (at - view.from) * factor, (view.to - view.from) * factor);
const move = (by) => show(view.from + by, view.to - view.from);
const fit = () => show(0, reach);

function spanAt(px, py) {
  const place = py + frame.scrollTop;
  const index = tops.findIndex((top) => place >= top && place < top + ROW);
  if (index < 0 || px < label || py < HEAD) return null;
  const spans = byRow[index], margin = 2 * (view.to - view.from) / width;
  const at = time(px), first = firstAfter(spans, at);
  // The span that is there, or the nearest one that is a pixel or two away.
  const near = [spans[first], spans[first - 1]].filter((span) => span && span[START] <= at + margin && finish(span) >= at - margin);
  return near[0] || null;
}

function about(span) {
  const [process, row] = trace.rows[span[ROWI]];
  const marks = trace.marks.filter((mark) => mark[0] === span[ROWI] && inside(mark[1], span)).map((mark) => mark[2]);
  const ends = (arrow, at, holds) => {
    const found = byRow[arrow[at]].find((other) => holds(arrow, other));
    return trace.rows[arrow[at]].join(", ") + (found ? `: ${text(found[NAME])}` : "");
  };
  const by = trace.arrows.filter((arrow) => comes(arrow, span)).map((arrow) => `ended by ${ends(arrow, 0, leaves)}`);
  const on = trace.arrows.filter((arrow) => leaves(arrow, span)).map((arrow) => `ends a wait of ${ends(arrow, 2, comes)}`);
  const when = isStuck(span) ? `from ${cycles(span[START])} on`
    : `${cycles(span[LENGTH])} ${UNIT}, from ${cycles(span[START])} to ${cycles(finish(span))}`;
  return {
    name: text(span[NAME]),
    facts: `${process}, ${row}: ${text(span[KIND])}, ${when}`,
    more: [text(span[MORE]), ...by.slice(0, 3), ...on.slice(0, 3), ...marks].filter(Boolean).join("\n"),
  };
}

function tell(span) {
  const details = element("details");
  if (!span) {
    const help = document.createElement("p");
    help.textContent = "Point at a span to see what it is, click to keep it. Drag to move, turn the wheel to zoom; "
      + "over the names the wheel scrolls. "
      + "Keys: arrow keys move and choose a row, n and p go to its next and previous span, "
      + "+ and - zoom, f zooms to the span, 0 shows everything.";
    details.replaceChildren(help);
    return;
  }
  const { name, facts, more } = about(span);
  const head = document.createElement("b"), line = document.createElement("div"), rest = document.createElement("div");
  [head.textContent, line.textContent, rest.textContent, rest.className] = [name, facts, more, "more"];
  details.replaceChildren(head, line, rest);
}

function tip(span, px, py) {
  const box = element("tip");
  box.hidden = !span;
  if (!span) return;
  const { name, facts, more } = about(span);
  box.textContent = [name, facts, more].filter(Boolean).join("\n");
  const right = Math.min(px + 14, window.innerWidth - box.offsetWidth - 6);
  const below = py + 18 + box.offsetHeight > window.innerHeight ? py - box.offsetHeight - 10 : py + 18;
  box.style.left = Math.max(4, right) + "px";
  box.style.top = Math.max(4, below) + "px";
}

// Chooses a span and brings it into view.
function choose(span) {
  chosen = span;
  if (span) {
    chosenRow = span[ROWI];
    const size = view.to - view.from;
    if (finish(span) < view.from || span[START] > view.to) show(span[START] - size / 3, size);
    const top = tops[chosenRow];
    if (y(top) < HEAD) frame.scrollTop = top - HEAD - BLOCK;
    if (y(top) + ROW > visible) frame.scrollTop = top + ROW - visible;
  }
  tell(span);
  draw();
}

// Pointers that are down: one moves, two zoom.
const held = new Map();
let moved = 0;
canvas.addEventListener("pointerdown", (event) => {
  held.set(event.pointerId, event.clientX);
  moved = 0;
  canvas.setPointerCapture(event.pointerId);
});
for (const name of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(name, (event) => {
    const box = canvas.getBoundingClientRect();
    if (name === "pointerup" && moved < 4 && held.size === 1) choose(spanAt(event.clientX - box.left, event.clientY - box.top));
    held.delete(event.pointerId);
  });
}
canvas.addEventListener("pointermove", (event) => {
  const box = canvas.getBoundingClientRect();
  if (held.has(event.pointerId)) {
    const before = held.get(event.pointerId), shift = event.clientX - before;
    const others = [...held].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    held.set(event.pointerId, event.clientX);
    moved += Math.abs(shift) + (event.pointerType === "touch" ? 0 : Math.abs(event.movementY));
    if (others.length === 0) {
      move(-shift * (view.to - view.from) / (width - label));
      if (event.pointerType === "touch") frame.scrollTop -= event.movementY;
    } else {
      const apart = Math.abs(event.clientX - others[0]);
      if (apart > 8) zoom(Math.abs(before - others[0]) / apart, time(others[0] - box.left));
    }
    tip(null);
    return;
  }
  const span = spanAt(event.clientX - box.left, event.clientY - box.top);
  tip(span, event.clientX, event.clientY);
  if (span === hovered) return;
  hovered = span;
  if (!chosen && span) tell(span);
  draw();
});
canvas.addEventListener("pointerleave", () => { hovered = null; tip(null); draw(); });
canvas.addEventListener("wheel", (event) => {
  const px = event.clientX - canvas.getBoundingClientRect().left;
  // Over the names, and with shift, the rows scroll.
  if (event.shiftKey || px < label) return;
  event.preventDefault();
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(event.deltaX / width * (view.to - view.from));
  else zoom(Math.exp(event.deltaY / 400), time(px));
}, { passive: false });

function beside(by) {
  const spans = byRow[chosenRow];
  const at = chosen && chosen[ROWI] === chosenRow ? spans.indexOf(chosen) + by : firstAfter(spans, view.from);
  if (spans[at]) choose(spans[at]);
}
function row(by) {
  chosenRow = Math.max(0, Math.min(trace.rows.length - 1, chosenRow + by));
  const spans = byRow[chosenRow];
  choose(spans[Math.min(spans.length - 1, firstAfter(spans, chosen ? chosen[START] : view.from))] || null);
}
canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const size = view.to - view.from, centre = (view.from + view.to) / 2;
  const middle = chosen && inside(centre, chosen) ? chosen[START] : centre;
  const keys = {
    ArrowLeft: () => move(-size / 6), ArrowRight: () => move(size / 6), ArrowUp: () => row(-1), ArrowDown: () => row(1),
    "+": () => zoom(0.7, middle), "=": () => zoom(0.7, middle), "-": () => zoom(1.4, middle), "0": fit, Home: fit,
    n: () => beside(1), p: () => beside(-1), Escape: () => choose(null),
    f: () => { if (chosen) show(chosen[START] - chosen[LENGTH], Math.max(20, 3 * chosen[LENGTH])); },
  };
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
});
canvas.addEventListener("focus", draw);
canvas.addEventListener("blur", draw);
frame.addEventListener("scroll", draw);
element("fit").addEventListener("click", fit);
element("in").addEventListener("click", () => zoom(0.6, (view.from + view.to) / 2));
element("out").addEventListener("click", () => zoom(1 / 0.6, (view.from + view.to) / 2));
element("arrows").addEventListener("change", draw);

function find(wanted) {
  search = wanted.trim().toLowerCase();
  const found = search ? trace.spans.filter(isFound) : [];
  const sum = found.reduce((all, span) => all + span[LENGTH], 0);
  element("found").textContent = search ? `${found.length} spans, ${cycles(sum)} ${UNIT}` : "";
  draw();
  return found;
}
element("find").addEventListener("input", (event) => find(event.target.value));
element("find").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  const found = find(event.target.value);
  choose(found[(found.indexOf(chosen) + 1) % found.length] || null);
});

function make(tag, parent, words, swatch) {
  const made = document.createElement(tag);
  made.textContent = words;
  if (swatch) made.style.setProperty("--swatch", `var(${KINDS[swatch] || "--accent"})`);
  parent.append(made);
  return made;
}

// Leads from a fault to its place in the timeline, or says how to have the place traced.
function tellWhere() {
  const [gx, gy] = (trace.about.grid || "1x1x1").split("x").map(Number);
  const blocks = [...fault.matchAll(/block \((\d+), (\d+), (\d+)\)/g)];
  const absent = blocks.some(([name]) => !heads.some(([process]) => process === name));
  const numbers = new Set(blocks.map(([, bx, by, bz]) => Number(bx) + gx * (Number(by) + gy * Number(bz))));
  const where = trace.marks.length > 0 && make("button", element("fault"), "Show where");
  if (where) {
    where.type = "button";
    where.addEventListener("click", () => {
      const [row, at] = trace.marks.find((mark) => !mark[2].includes(": the other access")) || trace.marks[0];
      const size = Math.min(reach, 300);
      show(at - size * 0.6, size);
      choose(byRow[row].find((span) => span[START] >= at - 1e-3) || null);
    });
  }
  if (!absent) return;
  const list = [...numbers].sort((a, b) => a - b).join(",");
  make("div", element("fault"), `Not all of this is in the timeline: KILN_TRACE_BLOCKS=${list} traces its blocks.`);
}

function head() {
  const { kinds, busy, bound, hot } = trace.summary, launch = trace.about || {}, model = launch.model;
  const facts = [`${profile ? "profiled" : "traced"}: ${cycles(end)} ${UNIT}`];
  if (model) {
    facts.unshift(`modelled: ${cycles(model.microseconds)} us (${cycles(Math.round(model.cycles))} cycles) on ${launch.device}`);
    facts.push(`${model.blocks.toLocaleString("en")} ${model.blocks === 1 ? "block" : "blocks"} in ${Number(model.waves.toPrecision(2))} waves`);
    facts.push(`${model["resident blocks"]} at once on each of ${model.multiprocessors} multiprocessors`);
    facts.push(`${model.registers} registers a thread`);
  } else if (launch.device) facts.unshift(`${profile ? "" : "as "}on ${launch.device}`);
  if (launch.grid) facts.push(`grid ${launch.grid}, ${launch.block} threads`);
  if (launch.cluster && launch.cluster !== "1x1x1") facts.push(`clusters of ${launch.cluster}`);
  element("facts").textContent = facts.join(" · ");
  element("bound").textContent = bound || "";
  const early = profile ? `${launch.lost} stamps found no room: the timelines of their warps end early.`
    : "A traced block did more than is recorded: the timeline ends early.";
  element("fault").textContent = [fault, trace.cut && early].filter(Boolean).join("\n");
  if (fault) tellWhere();
  const spent = ([kind]) => !(stopped && kind === "stuck");
  for (const [kind, part] of kinds.filter(([kind]) => KINDS[kind]).filter(spent)) {
    const piece = make("div", element("kinds"), "", kind);
    piece.style.width = 100 * part + "%";
    piece.title = `${kind} ${percent(part)}`;
  }
  element("kinds").parentElement.hidden = kinds.length === 0;
  for (const [name, part] of busy) {
    const unit = make("span", element("busy"), "");
    unit.className = "unit";
    make("i", unit, "").style.setProperty("--part", percent(part));
    unit.append(`${name} ${percent(part)}`);
  }
  const parts = new Map(kinds), used = new Set(trace.spans.map((span) => text(span[KIND])));
  for (const kind of Object.keys(KINDS).filter((kind) => used.has(kind))) {
    const shown = parts.has(kind) && kind !== "stuck" ? `${kind} ${percent(parts.get(kind))}` : kind;
    const entry = make("button", element("legend"), shown, kind);
    entry.type = "button";
    entry.setAttribute("aria-pressed", "false");
    entry.addEventListener("click", () => {
      focused = focused === kind ? null : kind;
      const all = element("legend").querySelectorAll("button");
      for (const other of all) other.setAttribute("aria-pressed", String(other === entry && focused === kind));
      draw();
    });
  }
  if (parts.has("gaps")) make("span", element("legend"), `gaps ${percent(parts.get("gaps"))}: waits of a few cycles`);
  for (const [name, kind, place, , part] of hot.filter(([, kind]) => spent([kind]))) {
    const step = make("tr", element("steps"), "");
    step.tabIndex = 0;
    make("td", step, kind === "stuck" ? "stuck" : percent(part), kind);
    make("td", step, name);
    // A path is broken where a folder ends.
    make("td", step, place.replaceAll("/", "/\u200b"));
    const go = () => {
      const bare = place.replace(/^PTX /, "ptx: ");
      const isStep = (span) => text(span[KIND]) === kind && text(span[MORE]).includes(bare)
        && trace.rows[span[ROWI]][1].startsWith("warp ");
      choose(trace.spans.find(isStep) || null);
    };
    step.addEventListener("click", go);
    step.addEventListener("keydown", (event) => { if (event.key === "Enter") go(); });
  }
  element("arrows").parentElement.hidden = trace.arrows.length === 0;
  element("hot").hidden = hot.length === 0;
  element("hot").open = window.innerWidth > 700;
}

function start() { readColours(); resize(); }
head();
tell(null);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", start);
new ResizeObserver(resize).observe(frame);
start();
// A fault far below is in sight at first.
if (fault && trace.marks.length > 0) frame.scrollTop = Math.max(0, tops[trace.marks[0][0]] + 3 * ROW - visible);

"use strict";
// The timeline of a page: rows of spans on a canvas, of which only what is visible is drawn.
const trace = JSON.parse(document.getElementById("data").textContent);
const KINDS = {
  "arithmetic": "--arithmetic", "control": "--control", "tensor core": "--tensor",
  "global load": "--load", "global store": "--store", "shared memory": "--shared",
  "local memory": "--local", "tensor memory": "--tmem", "copy": "--copy",
  "synchronisation": "--sync", "wait": "--wait", "stall": "--stall", "stuck": "--stuck",
  "phase": "--phase",
};
const ROW = 22, HEAD = 24, BLOCK = 20;
const [ROWI, START, LENGTH, KIND, NAME, MORE] = [0, 1, 2, 3, 4, 5];
const element = (id) => document.getElementById(id);
const canvas = element("canvas"), frame = element("timeline"), pen = canvas.getContext("2d");
const end = Math.max(trace.end, 1);
let view = { from: 0, to: end * 1.02 }, width = 0, height = 0, label = 0, hovered = null, search = "";
let colours = {};

// Spans by row, in order of time; where each row is drawn.
const byRow = trace.rows.map(() => []);
for (const span of trace.spans) byRow[span[ROWI]].push(span);
for (const spans of byRow) spans.sort((a, b) => a[START] - b[START]);
const tops = [];
const heads = [];
{
  let y = HEAD, block = null;
  trace.rows.forEach(([process], index) => {
    if (process !== block) { heads.push([process, y]); y += BLOCK; block = process; }
    tops[index] = y;
    y += ROW;
  });
  height = y + 10;
}

function text(number) { return trace.texts[number]; }

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
  label = Math.min(150, Math.max(96, width * 0.2));
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  draw();
}

const x = (time) => label + (time - view.from) / (view.to - view.from) * (width - label);
const time = (px) => view.from + (px - label) / (width - label) * (view.to - view.from);

// The first span of a row that ends after a time.
function firstAfter(spans, at) {
  let low = 0, high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle][START] + spans[middle][LENGTH] < at) low = middle + 1; else high = middle;
  }
  return low;
}

function step() {
  const rough = (view.to - view.from) / Math.max(2, (width - label) / 90);
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
}

function drawAxis() {
  pen.fillStyle = colours.panel;
  pen.fillRect(0, 0, width, HEAD - 2);
  pen.fillStyle = colours.faint;
  pen.font = "11px system-ui, sans-serif";
  pen.fillText("cycles", 8, 15);
  const size = step();
  for (let at = Math.ceil(view.from / size) * size; at <= view.to; at += size) {
    const px = x(at);
    pen.fillStyle = colours.line;
    pen.fillRect(px, HEAD - 4, 1, height);
    pen.fillStyle = colours.faint;
    const shown = size < 1 ? at.toFixed(2) : Math.round(at).toLocaleString("en");
    if (px + 4 + pen.measureText(shown).width < width) pen.fillText(shown, px + 3, 15);
  }
}

function drawRow(index) {
  const spans = byRow[index], top = tops[index] + 2;
  let reached = -1;
  for (let i = firstAfter(spans, view.from); i < spans.length && spans[i][START] <= view.to; i++) {
    const span = spans[i];
    const left = Math.max(label, x(span[START])), right = Math.min(width, x(span[START] + span[LENGTH]));
    // Spans that share a pixel are drawn once.
    if (right <= reached) continue;
    const wide = Math.max(right - left, 1);
    const kind = text(span[KIND]);
    const matches = search && text(span[NAME]).toLowerCase().includes(search);
    pen.globalAlpha = search && !matches ? 0.25 : 1;
    pen.fillStyle = colours[kind] || colours.accent;
    pen.fillRect(left, top, wide > 3 ? wide - 0.5 : wide, ROW - 4);
    if (wide > 34) {
      const light = kind === "wait" || kind === "stall" || kind === "phase" || kind === "arithmetic";
      pen.fillStyle = light ? (kind === "stall" ? colours.text : "#1c1f24") : "#ffffff";
      pen.font = "11px system-ui, sans-serif";
      pen.save();
      pen.beginPath();
      pen.rect(left, top, wide - 3, ROW);
      pen.clip();
      pen.fillText(text(span[NAME]), left + 4, top + 13);
      pen.restore();
    }
    pen.globalAlpha = 1;
    if (span === hovered) {
      pen.strokeStyle = colours.text;
      pen.lineWidth = 1.5;
      pen.strokeRect(left + 0.5, top + 0.5, Math.max(wide - 1, 2), ROW - 5);
    }
    reached = right;
  }
}

function drawArrows() {
  const shown = element("arrows").checked;
  const near = (arrow) => hovered && ((arrow[2] === hovered[ROWI] && inside(arrow[3], hovered))
    || (arrow[0] === hovered[ROWI] && inside(arrow[1], hovered)));
  const all = trace.arrows.filter((arrow) => Math.max(arrow[1], arrow[3]) >= view.from && Math.min(arrow[1], arrow[3]) <= view.to);
  // Of too many, only those of the span under the pointer say anything.
  const few = shown && all.length <= 400 ? all : all.filter(near);
  for (const arrow of few) {
    const strong = near(arrow);
    const [a, b, c, d] = [x(arrow[1]), tops[arrow[0]] + ROW / 2, x(arrow[3]), tops[arrow[2]] + ROW / 2];
    pen.strokeStyle = pen.fillStyle = strong ? colours.text : colours.accent;
    pen.globalAlpha = strong ? 1 : 0.55;
    pen.lineWidth = strong ? 1.8 : 1;
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

function inside(at, span) { return at >= span[START] - 1e-6 && at <= span[START] + span[LENGTH] + 1e-6; }

function drawMarks() {
  for (const [row, at] of trace.marks) {
    if (at < view.from || at > view.to) continue;
    const px = x(at), y = tops[row];
    pen.fillStyle = colours.fault;
    pen.fillRect(px - 1, y, 2, ROW);
    pen.beginPath();
    pen.moveTo(px - 6, y - 2);
    pen.lineTo(px + 6, y - 2);
    pen.lineTo(px, y + 8);
    pen.fill();
  }
}

function drawLabels() {
  pen.fillStyle = colours.back;
  pen.fillRect(0, HEAD, label, height);
  for (const [process, y] of heads) {
    pen.fillStyle = colours.panel;
    pen.fillRect(0, y, width, BLOCK - 2);
    pen.fillStyle = colours.text;
    pen.font = "600 12px system-ui, sans-serif";
    pen.fillText(process, 8, y + 13);
  }
  pen.font = "12px system-ui, sans-serif";
  trace.rows.forEach(([, name], index) => {
    pen.fillStyle = colours.faint;
    pen.save();
    pen.beginPath();
    pen.rect(0, tops[index], label - 6, ROW);
    pen.clip();
    pen.fillText(name, 8, tops[index] + 15);
    pen.restore();
  });
}

function draw() {
  pen.fillStyle = colours.back;
  pen.fillRect(0, 0, width, height);
  drawAxis();
  pen.save();
  pen.beginPath();
  pen.rect(label, 0, width, height);
  pen.clip();
  const top = frame.scrollTop - ROW, bottom = frame.scrollTop + frame.clientHeight;
  tops.forEach((y, index) => { if (y >= top && y <= bottom) drawRow(index); });
  drawArrows();
  drawMarks();
  pen.restore();
  drawLabels();
}

function zoom(factor, at) {
  const size = Math.min(end * 1.2, Math.max(2, (view.to - view.from) * factor));
  const part = (at - view.from) / (view.to - view.from);
  const from = Math.max(-end * 0.05, Math.min(at - part * size, end * 1.05 - size * 0.5));
  view = { from, to: from + size };
  draw();
}

function move(cycles) {
  const size = view.to - view.from;
  const from = Math.max(-end * 0.05, Math.min(view.from + cycles, end * 1.05 - size * 0.5));
  view = { from, to: from + size };
  draw();
}

function spanAt(px, y) {
  const index = tops.findIndex((top) => y >= top && y < top + ROW);
  if (index < 0 || px < label) return null;
  const spans = byRow[index], margin = 2 * (view.to - view.from) / width;
  const at = time(px), first = firstAfter(spans, at - margin);
  return spans[first] && spans[first][START] <= at + margin ? spans[first] : null;
}

function show(span) {
  const details = element("details");
  details.replaceChildren();
  if (!span) return;
  const [process, row] = trace.rows[span[ROWI]];
  const head = document.createElement("b");
  head.textContent = text(span[NAME]);
  const facts = document.createElement("div");
  const cycles = (n) => n.toLocaleString("en", { maximumFractionDigits: 1 });
  facts.textContent = `${process}, ${row}: ${text(span[KIND])}, cycles ${cycles(span[START])} to ${cycles(span[START] + span[LENGTH])} (${cycles(span[LENGTH])})`;
  const more = document.createElement("div");
  more.className = "more";
  const notes = trace.marks.filter((mark) => mark[0] === span[ROWI] && inside(mark[1], span)).map((mark) => mark[2]);
  more.textContent = [text(span[MORE]), ...notes].filter(Boolean).join("\n");
  details.append(head, facts, more);
}

let held = null;
canvas.addEventListener("pointerdown", (event) => { held = { x: event.clientX, from: view.from }; canvas.setPointerCapture(event.pointerId); });
canvas.addEventListener("pointerup", () => { held = null; });
canvas.addEventListener("pointercancel", () => { held = null; });
canvas.addEventListener("pointermove", (event) => {
  const box = canvas.getBoundingClientRect();
  if (held) {
    const per = (view.to - view.from) / (width - label);
    move(held.from - (event.clientX - held.x) * per - view.from);
    return;
  }
  const span = spanAt(event.clientX - box.left, event.clientY - box.top);
  if (span === hovered) return;
  hovered = span;
  if (span) show(span);
  draw();
});
canvas.addEventListener("wheel", (event) => {
  // With shift the page scrolls, as where rows do not fit.
  if (event.shiftKey) return;
  event.preventDefault();
  const box = canvas.getBoundingClientRect();
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(event.deltaX / width * (view.to - view.from));
  else zoom(Math.exp(event.deltaY / 400), Math.max(view.from, time(event.clientX - box.left)));
}, { passive: false });
canvas.addEventListener("keydown", (event) => {
  const size = view.to - view.from, middle = (view.from + view.to) / 2;
  const keys = { ArrowLeft: () => move(-size / 6), ArrowRight: () => move(size / 6), "+": () => zoom(0.7, middle), "-": () => zoom(1.4, middle) };
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
});
frame.addEventListener("scroll", draw);
element("fit").addEventListener("click", () => { view = { from: 0, to: end * 1.02 }; draw(); });
element("in").addEventListener("click", () => zoom(0.6, (view.from + view.to) / 2));
element("out").addEventListener("click", () => zoom(1 / 0.6, (view.from + view.to) / 2));
element("arrows").addEventListener("change", draw);
element("find").addEventListener("input", (event) => {
  search = event.target.value.trim().toLowerCase();
  const found = search ? trace.spans.filter((span) => text(span[NAME]).toLowerCase().includes(search)) : [];
  const cycles = found.reduce((sum, span) => sum + span[LENGTH], 0);
  element("found").textContent = search ? `${found.length} spans, ${Math.round(cycles).toLocaleString("en")} cycles` : "";
  draw();
});

const summary = element("summary");
for (const line of trace.summary.trimEnd().split("\n")) {
  const part = document.createElement("span");
  if (trace.about && trace.about.fault && trace.about.fault.includes(line.trim()) && line.trim()) part.className = "fault";
  part.textContent = line + "\n";
  summary.append(part);
}
const used = new Set(trace.spans.map((span) => text(span[KIND])));
for (const [kind, name] of Object.entries(KINDS)) {
  if (!used.has(kind)) continue;
  const entry = document.createElement("span");
  entry.style.setProperty("--swatch", `var(${name})`);
  entry.textContent = kind;
  element("legend").append(entry);
}
function start() { readColours(); resize(); }
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", start);
window.addEventListener("resize", resize);
start();

"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);

  // An element with attributes, listeners and children; texts are texts and never markup.
  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (typeof value === "function") element.addEventListener(name, value);
      else if (value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  // The table: a click on a head sorts by its column, another one the other way round.
  const table = document.getElementById("all");
  if (table) {
    const heads = [...table.tHead.rows[0].cells];
    const value = (row, column) => {
      const cell = row.cells[column];
      return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
    };
    const first = table.tBodies[0].rows[0];
    heads.forEach((head, column) => head.classList.toggle("n", !!first && first.cells[column].classList.contains("n")));
    heads.forEach((head, column) => head.firstChild.addEventListener("click", () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const [x, y] = [value(a, column), value(b, column)];
        return sign * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true }));
      });
      table.tBodies[0].append(...rows);
    }));
  }
  if (!data) return;

  const names = {
    tensor_core: "tensor cores", tensor_memory: "tensor memory",
  };
  const title = (kind) => names[kind] || kind;
  const kinds = ["tensor_core", "load", "store", "shared", "tensor_memory", "copy", "barrier", "shuffle", "convert", "float", "integer", "move", "control"];

  function fact(name, text, extra, kind, size) {
    return make("div", { class: size ? `fact ${size}` : "fact" }, make("b", {}, name), make("span", { class: kind || "" }, text), extra);
  }

  function facts(kernel) {
    const known = (value) => (value === null ? "?" : value.toLocaleString("en"));
    const bytes = (value) => (value === null ? "?" : `${known(value)} B`);
    const spilled = kernel.spill_store_bytes + kernel.spill_load_bytes > 0;
    const box = make("div", { class: "facts" },
      fact("threads of a block", known(kernel.threads) + (kernel.cluster_blocks > 1 ? `, clusters of ${kernel.cluster_blocks}` : "")),
      fact("registers of a thread", known(kernel.registers)),
      fact("spilled: stores / loads", `${bytes(kernel.spill_store_bytes)} / ${bytes(kernel.spill_load_bytes)}`, null, spilled ? "bad" : ""),
      fact("stack", bytes(kernel.stack_bytes)),
      fact("shared: static / dynamic", `${bytes(kernel.shared_static_bytes)} / ${bytes(kernel.shared_dynamic_bytes)}`),
      kernel.tensor_memory_columns ? fact("tensor memory", `${kernel.tensor_memory_columns} columns`) : null,
      fact("instructions: PTX / SASS", `${known(kernel.ptx_instructions)} / ${known(kernel.sass_instructions)}`));
    for (const held of kernel.occupancy) {
      const share = 100 * held.warps / held.most_warps;
      box.append(fact(held.gpu, `${held.blocks} ${held.blocks === 1 ? "block" : "blocks"}, ${held.warps} of ${held.most_warps} warps`,
        make("div", {}, make("div", { class: "bar" }, make("i", { style: `width:${share}%` })),
          make("span", { class: "faint" }, held.limits.join(", ")))));
    }
    if (kernel.compile_ns !== null) {
      const phases = Object.entries(kernel.compile_ns);
      const all = phases.reduce((sum, [, time]) => sum + time, 0);
      const milliseconds = (time) => `${(time / 1e6).toFixed(2)} ms`;
      const list = phases.map(([phase, time]) => `${phase} ${milliseconds(time)}`).join(", ");
      box.append(fact("time of the compiler", milliseconds(all), make("span", { class: "faint" }, list)));
    }
    if (kernel.ptxas_us !== null) box.append(fact("time of ptxas", `${known(Math.round(kernel.ptxas_us / 1000))} ms`));
    if (kernel.order !== null) {
      const proven = kernel.order.startsWith("proven");
      const covers = proven ? make("details", { class: "faint" }, make("summary", {}, "What this covers"), kernel.order_covers) : null;
      box.append(fact("order", kernel.order, covers, proven ? "good" : "bad", "broad"));
    }
    if (kernel.conversions) box.append(fact("layouts", kernel.conversions, null, "", "broad"));
    return box;
  }

  function loops(kernel) {
    const box = make("div", {});
    kernel.loops.forEach((one, index) => {
      const [lines, told] = kernel.loop_texts[index];
      const all = Object.values(one.instructions).reduce((sum, count) => sum + count, 0);
      const bar = make("div", { class: "bar" });
      const keys = make("div", { class: "keys" });
      for (const kind of kinds) {
        const count = one.instructions[kind];
        if (!count) continue;
        bar.append(make("i", { style: `width:${100 * count / all}%;background:var(--${kind})`, title: `${count} ${title(kind)}` }));
        keys.append(make("span", {}, make("i", { style: `background:var(--${kind})` }), `${count} ${title(kind)}`));
      }
      box.append(make("div", { class: "loop", style: `margin-left:${one.depth * 18}px` },
        make("div", {}, make("b", {}, one.label), lines ? `, ${lines}` : "", `: ${all} instructions`), bar, keys,
        told ? make("div", { class: "faint" }, told) : null, one.ideal ? ideal(one.ideal) : null));
    });
    if (!kernel.loops.length) box.append(make("p", { class: "faint" }, "There is no loop."));
    return box;
  }

  // The least cycles of an iteration, by what takes them: the longest bar is what a loop cannot be faster than.
  function ideal(least) {
    const parts = [
      ["tensor cores", least.tensor_core_cycles, "tensor_core"],
      ["global memory, no cache", least.memory_cycles, "load"],
      ["issue", least.issue_cycles, "float"],
    ].filter(([, cycles]) => cycles);
    const most = Math.max(...parts.map(([, cycles]) => cycles));
    const box = make("div", { class: "ideal" },
      make("div", { class: "faint" }, `least cycles of an iteration of a block, ${least.gpu}`));
    for (const [name, cycles, kind] of parts) {
      box.append(make("span", { class: "faint" }, name),
        make("div", { class: "track" }, make("i", { style: `width:${100 * cycles / most}%;background:var(--${kind})` })),
        make("span", { class: "n" }, Math.round(cycles).toLocaleString("en")));
    }
    return box;
  }

  // Source on the left, what it became on the right. A click on either marks what belongs together.
  function panes(kernel, openPicture) {
    const main = Object.keys(kernel.heat).sort((a, b) => weight(kernel.heat[b]) - weight(kernel.heat[a]));
    const left = make("div", { class: "scroll", tabindex: "0" });
    const right = make("div", { class: "scroll", tabindex: "0" });
    const only = make("input", { type: "checkbox", change: () => right.classList.toggle("only", only.checked && chosen !== null) });
    let chosen = null;
    const tabs = { ptx: "PTX", sass: "SASS", tiles: "Layouts" };
    const buttons = {};
    const head = make("div", { class: "head", role: "tablist" });
    for (const [key, name] of Object.entries(tabs)) {
      buttons[key] = make("button", { class: "tab", role: "tab", click: () => show(key) }, name);
      head.append(buttons[key]);
    }
    head.append(make("label", { class: "faint" }, only, " only the marked line"));

    function mark(file, line, from) {
      chosen = chosen === `${file}:${line}` ? null : `${file}:${line}`;
      right.classList.toggle("only", only.checked && chosen !== null);
      for (const side of [left, right]) {
        let first = null;
        for (const element of side.querySelectorAll("[data-at]")) {
          const on = element.dataset.at === chosen;
          element.classList.toggle("on", on);
          if (on && first === null) first = element;
        }
        if (first && side !== from) side.scrollTop = first.offsetTop - side.clientHeight / 3;
      }
    }

    const most = Math.max(1, ...main.flatMap((file) => Object.values(kernel.heat[file]).map(([ptx]) => ptx)));
    for (const file of main) {
      const source = data.sources[file];
      left.append(make("div", { class: "file" }, file + (source && source.lines.length ? "" : ": the source is not found; --source names its folder")));
      const first = source && source.lines.length ? source.first : 1;
      const texts = source && source.lines.length ? source.lines : [];
      const lines = texts.length ? texts.map((text, index) => [first + index, text])
        : Object.keys(kernel.heat[file]).map((line) => [Number(line), ""]);
      const used = lines.filter(([line]) => kernel.heat[file][line]).map(([line]) => line);
      const [from, to] = [Math.min(...used) - 3, Math.max(...used) + 3];
      for (const [line, text] of lines) {
        if (line < from || line > to) continue;
        const heat = kernel.heat[file][line];
        const at = `${file}:${line}`;
        left.append(make("div", {
          class: heat ? "line has" : "line", "data-at": at,
          style: heat ? `background:rgba(var(--heat),${(0.05 + 0.4 * heat[0] / most).toFixed(3)})` : null,
          title: heat ? `${heat[0]} PTX, ${kernel.sass_instructions === null ? "?" : heat[1]} SASS instructions` : null,
          click: heat ? () => mark(file, line, left) : null,
        }, make("span", {}, String(line)), make("span", { class: "count" }, heat ? String(heat[0]) : ""), make("span", {}, text)));
      }
    }

    function show(key) {
      for (const [other, button] of Object.entries(buttons)) button.setAttribute("aria-selected", String(other === key));
      right.replaceChildren();
      if (key === "tiles") tiles();
      else blocks(kernel.code[key]);
      const now = chosen;
      chosen = null;
      if (now !== null) {
        const cut = now.lastIndexOf(":");
        mark(now.slice(0, cut), Number(now.slice(cut + 1)), null);
      }
    }
    function blocks(list) {
      if (!list) {
        right.append(make("div", { class: "empty" }, kernel.no_sass || ""));
        return;
      }
      for (const [file, line, text] of list) {
        right.append(make("div", { class: "block", "data-at": `${file}:${line}`, click: () => mark(file, line, right) },
          make("span", {}, line === null ? "" : String(line)), make("div", {}, text)));
      }
    }
    function tiles() {
      if (!kernel.tiles) {
        right.append(make("div", { class: "empty" }, "There is no file of layouts beside the PTX."));
        return;
      }
      for (const [line, statement, cost] of kernel.tiles) {
        const text = make("div", {});
        for (const part of statement.split(/\b(L\d+)\b/)) {
          text.append(/^L\d+$/.test(part)
            ? make("span", { class: "name", click: (event) => { event.stopPropagation(); openPicture(part); } }, part) : part);
        }
        // What passes through shared memory or meets in a bank is what one looks for.
        if (cost) text.append(make("span", { class: isDear(cost) ? "cost bad" : "cost" }, `  ← ${cost}`));
        right.append(make("div", { class: "block tile", "data-at": `${main[0]}:${line}`, click: () => mark(main[0], line, right) },
          make("span", {}, String(line)), text));
      }
    }
    show("ptx");
    const counts = make("div", { class: "head" }, "Source", make("span", { class: "faint" }, "line · PTX instructions"));
    return make("div", { class: "panes" }, make("div", { class: "pane" }, counts, left), make("div", { class: "pane" }, head, right));
  }
  const weight = (heat) => Object.values(heat).reduce((sum, [ptx]) => sum + ptx, 0);

  // A line that opens a picture.
  function pictured(summary, key, about) {
    const element = make("details", {}, summary);
    element.addEventListener("toggle", () => {
      if (!element.open || element.querySelector(".picture")) return;
      const picture = make("div", { class: "picture", title: "click for its full size", click: () => picture.classList.toggle("full") });
      if (data.files && data.files[key]) picture.append(make("img", { src: data.files[key], alt: about }));
      // The picture is the compiler's, with texts escaped.
      else if (data.pictures && data.pictures[key]) picture.innerHTML = data.pictures[key];
      else picture.append(make("p", { class: "empty" }, "There is no picture of layouts of this size."));
      element.append(picture);
    });
    return element;
  }

  const isDear = (cost) => /shared memory|[1-9]\d* bank conflict/.test(cost);

  // Each conversion opens a picture of both layouts, with the elements outlined that move.
  function conversions(kernel) {
    const box = make("div", { class: "pictures" });
    for (const [line, tile, from, to, cost, key] of kernel.conversion_list || []) {
      const summary = make("summary", {}, make("span", { class: "faint" }, `line ${line}  `), make("b", {}, `${from || "?"} → ${to}`), `  ${tile}  `,
        make("span", { class: isDear(cost) ? "bad" : "faint" }, cost));
      box.append(pictured(summary, key, `who holds each element in ${from} and in ${to}`));
    }
    return box;
  }

  function pictures(kernel) {
    const box = make("div", { class: "pictures" });
    const found = {};
    for (const [name, bases, key] of kernel.layout_list || []) {
      const summary = make("summary", {}, make("b", {}, name), ` = ${bases}`);
      found[name] = pictured(summary, key, `who holds each element of ${name}`);
      box.append(found[name]);
    }
    const open = (name) => {
      if (!found[name]) return;
      found[name].open = true;
      found[name].scrollIntoView({ behavior: "smooth", block: "start" });
    };
    return [box, open];
  }

  function fill(element, kernel) {
    const inside = element.querySelector(".inside");
    if (inside.firstChild) return;
    const [drawn, open] = pictures(kernel);
    inside.append(facts(kernel));
    for (const warning of kernel.warnings) inside.append(make("p", { class: "bad" }, warning));
    inside.append(make("h2", {}, "Loops"), loops(kernel), make("h2", {}, "Source, and what it became"), panes(kernel, open));
    if (kernel.conversion_list && kernel.conversion_list.length) inside.append(make("h2", {}, "Conversions"), conversions(kernel));
    if (kernel.layout_list && kernel.layout_list.length) {
      inside.append(make("h2", {}, "Layouts"), make("pre", { class: "memory" }, kernel.memory.join("\n")), drawn);
    }
  }

  data.kernels.forEach((kernel, index) => {
    const element = document.getElementById(`k${index}`);
    element.addEventListener("toggle", () => { if (element.open) fill(element, kernel); });
  });
  function follow() {
    const element = document.getElementById(location.hash.slice(1));
    if (element && element.tagName === "DETAILS") {
      element.open = true;
      fill(element, data.kernels[Number(element.id.slice(1))]);
      element.scrollIntoView();
    }
  }
  addEventListener("hashchange", follow);
  if (data.kernels.length === 1) document.getElementById("k0").open = true;
  follow();
})();

"use strict";
// The highlighter of mdBook has no PTX. Its script has run before this one, so the blocks are highlighted here.
(() => {
  if (typeof hljs === "undefined") return;
  hljs.registerLanguage("ptx", (hljs) => ({
    name: "PTX",
    contains: [
      hljs.C_LINE_COMMENT_MODE,
      hljs.C_BLOCK_COMMENT_MODE,
      hljs.QUOTE_STRING_MODE,
      // Directives and types, such as `.entry` and `.u32`, are parts of opcodes too: those begin with a letter.
      { className: "built_in", begin: /(?<![\w.])\.[a-z]\w*/ },
      { className: "keyword", begin: /(?<![\w.$%@!])[a-z]\w*(?:(?:\.|::)\w+)+|\b(?:bra|ret|exit|trap)\b/ },
      { className: "variable", begin: /%[\w.]+/ },
      { className: "number", begin: /\b(?:0[xX][\da-fA-F]+|0[fFdD][\da-fA-F]+|\d+)\b/ },
    ],
  }));
  for (const block of document.querySelectorAll("code.language-ptx")) hljs.highlightBlock(block);
})();

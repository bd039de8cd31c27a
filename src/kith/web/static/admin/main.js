// What scripts add to the console.
import "../client/times.js";
import "./copy.js";
if (document.querySelector("[data-flow]")) import("./flow.js");
if (document.querySelector("textarea.code")) import("./code.js");
if (document.querySelector("[data-again]")) import("./again.js");

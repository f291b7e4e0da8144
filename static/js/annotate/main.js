// The annotation page: every part listens first, then the flow begins.
import "./keys.js";
import { start } from "./flow.js";
import { resume } from "./offline.js";

// A browser may refuse to keep anything, as in a private window.
await resume().catch(() => {});
start();

// The annotation page: every part listens first, then the flow begins.
import "./keys.js";
import "./sliders.js";
import { start } from "./flow.js";

start();

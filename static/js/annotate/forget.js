// Whoever signs in or out leaves no items of others in this browser; answers on their way stay.
import { forget } from "./kept.js";

forget();

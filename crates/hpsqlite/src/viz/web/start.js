/** The page as the server serves it. */
import { start } from "viz/app.js";
import { HttpSource } from "viz/source.js";

start(new HttpSource());

/** The page as `--html` saves it, with its data inside. */
import { start } from "viz/app.js";
import { EmbeddedSource } from "viz/source-embedded.js";

start(await new EmbeddedSource().open());

// `npm start`: one ONNX job, end to end, honest and fraudulent, on an embedded chain.
import { writeFileSync } from "node:fs";
import { Command } from "commander";
import { lastLine } from "./figures.ts";
import { Narrator } from "./narrator.ts";
import { runDemo } from "./demo.ts";

const { json } = new Command()
  .name("npm start --")
  .description("One ONNX job, end to end, honest and fraudulent, on an embedded chain.")
  .option("--json <file>", "also write the figures as JSON")
  .parse()
  .opts<{ json?: string }>();
const figures = await runDemo(new Narrator(console.log));
if (json !== undefined) writeFileSync(json, `${JSON.stringify(figures, null, 2)}\n`);
console.log(lastLine(figures));

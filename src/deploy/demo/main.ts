// `npm start`: one ONNX job, end to end, honest and fraudulent, on an embedded chain.
import { writeFileSync } from "node:fs";
import { Command } from "commander";
import { BrowserProvider } from "ethers";
import { describe, readAnswer } from "../../../examples/textDirection/readAnswer.ts";
import { lastLine } from "./figures.ts";
import { startLocalChain } from "./localChain.ts";
import { Narrator } from "./narrator.ts";
import { runDemo } from "./demo.ts";

const { json } = new Command()
  .name("npm start --")
  .description("One ONNX job, end to end, honest and fraudulent, on an embedded chain.")
  .option("--json <file>", "also write the figures as JSON")
  .parse()
  .opts<{ json?: string }>();
const figures = await runDemo(new Narrator(console.log), async (manufacturer) => {
  const chain = await startLocalChain({ manufacturers: [manufacturer.id] });
  return {
    chain,
    kind: "An embedded chain starts in this process",
    reader: "ethers",
    answerOf: async (dapp, jobId) => {
      const answer = await readAnswer(new BrowserProvider(chain.provider), dapp, jobId);
      return { text: describe(answer), confidencePpm: answer.confidencePpm };
    },
  };
});
if (json !== undefined) writeFileSync(json, `${JSON.stringify(figures, null, 2)}\n`);
console.log(lastLine(figures));

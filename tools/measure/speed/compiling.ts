/**
 * How long compiling takes: chains of small nodes, an unrolled loop, and a language model in the shape of GPT-2 small
 * at 64 tokens. Processor time, because other processes change it least.
 */
import { compile } from "../../../src/compiler/compile.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { gpt2 } from "../../../testkit/models/gpt2.ts";
import { LONG_GRAPHS } from "../../../testkit/models/longGraphs.ts";
import { list, readOptions } from "../../options.ts";

const values = readOptions({ nodes: list("lengths of the graphs", ["500", "1000", "2000", "4000"]) });

/** Returns the processor seconds over all threads in this process, and the program's steps. */
function compiled(bytes: Uint8Array): { seconds: number; steps: number } {
  const model = readModel(bytes);
  const before = process.cpuUsage();
  const { program } = compile(model, { shapes: {} });
  const { user, system } = process.cpuUsage(before);
  return { seconds: Number(((user + system) / 1e6).toFixed(2)), steps: program.steps.length };
}

// The first compilations are slower: the compiler itself is compiled meanwhile.
for (const make of Object.values(LONG_GRAPHS)) compiled(make(200));
console.table(
  Object.entries(LONG_GRAPHS).map(([graph, make]) => ({
    graph,
    ...Object.fromEntries(values.nodes.map((nodes) => [`${nodes}, s`, compiled(make(Number(nodes))).seconds])),
  })),
);
console.table([{ model: "GPT-2 small, 64 tokens", ...compiled(gpt2()) }]);

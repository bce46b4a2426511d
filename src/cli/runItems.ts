import { itemOutputs } from "../examine/train/itemOutputs.ts";
import type { ModelSpec } from "../compiler/wraps/modelSpec.ts";
import { RunInputs } from "../program/trace/runInputs.ts";
import { outputFiles, writeOutput, type OutputOptions } from "./decoded.ts";
import type { Output } from "./output.ts";
import { prepareBatch } from "./prepareJob.ts";
import { tensorJson, tensorText } from "./tensorText.ts";

type Options = Pick<OutputOptions, "output"> & { input?: string[]; items?: number };

/**
 * Executes the items of a run exactly, as `refute submit` would post them, and prints the outputs: all outputs for the
 * last item, and only the repeated outputs for other items. A file takes the outputs of all items, with the item as
 * first dimension.
 * @throws UsageError, InputFileError
 */
export async function runItems(spec: ModelSpec, options: Options, output: Output): Promise<void> {
  const { compiled, inputs, items } = prepareBatch(spec, options, output);
  const { program, programRoot, outputs } = compiled;
  const files = outputFiles(
    outputs.map(({ name }) => name),
    options.output ?? [],
  );
  const kept = new Map<string, Uint8Array[]>([...files.keys()].map((name) => [name, []]));
  const listed: unknown[] = [];
  const start = performance.now();
  const taken = new RunInputs(program.inputs, { items, firstItem: 0 }, inputs);
  let item = 0;
  for await (const outputOf of itemOutputs(compiled, taken)) {
    const isLast = item === items - 1;
    const here = outputs.filter((_, k) => isLast || program.each?.includes(k) === true);
    const tensors = here.map((info) => ({ ...info, bytes: outputOf(info.name) }));
    for (const { name, bytes } of tensors) kept.get(name)?.push(bytes);
    for (const tensor of tensors) output.part(`item ${item}: ${tensorText(tensor)}`);
    if (output.mode.json) listed.push(tensors.map((tensor) => tensorJson(tensor, files.get(tensor.name))));
    item++;
  }
  const milliseconds = Math.round(performance.now() - start);
  outputs.forEach((info, k) => {
    const [path, all] = [files.get(info.name), kept.get(info.name)];
    if (path === undefined || all === undefined) return;
    const shape = program.each?.includes(k) === true ? [items, ...info.shape] : info.shape;
    writeOutput(info.name, path, { dtype: info.dtype, shape, bytes: Buffer.concat(all) });
  });
  output.answer(
    { programRoot, milliseconds, items: listed },
    `${items} ${items === 1 ? "item" : "items"} of ${program.steps.length} steps in ${milliseconds} ms`,
  );
}

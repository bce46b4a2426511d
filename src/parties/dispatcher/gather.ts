import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { npyData, npyHeader } from "../../model/onnx/inputs/npy.ts";
import type { Batch } from "./batch.ts";
import { DispatchOutputError } from "./errors.ts";
import type { DispatchStore } from "./store.ts";
import { writeProblem } from "../../base/writable.ts";

/** Where outputs go, by their numbers. */
export type OutputFiles = ReadonlyMap<number, string>;

/**
 * Checks that the output files are writable, before any payment for outputs.
 * @throws DispatchOutputError
 */
export function requireWritable(batch: Batch, files: OutputFiles): void {
  for (const path of files.values())
    guarded(path, () => {
      if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new Error("it is no regular file");
      const probe = partial(path, batch);
      closeSync(openSync(probe, "w"));
      rmSync(probe);
    });
}

/**
 * Writes the outputs of a finished batch into NumPy files. An output of each item holds all items in order, with the
 * items as first dimension; any other output comes from the last item. A file is complete or missing.
 * @throws DispatchOutputError
 */
export function writeOutputs(batch: Batch, store: DispatchStore, files: OutputFiles): void {
  const { program, items, parts } = batch;
  const { each = [] } = program.model.program;
  const claims = new Map(store.done().map(({ part, claim }) => [part, claim]));
  for (const [output, path] of files) {
    const { dtype, shape } = program.model.outputs[output]!;
    const isEach = each.includes(output);
    guarded(path, () => {
      const file = openSync(partial(path, batch), "w");
      let isWhole = false;
      try {
        write(file, npyHeader({ dtype, shape: isEach ? [items, ...shape] : shape }));
        for (const part of isEach ? parts : parts.slice(-1)) {
          const first = isEach ? 0 : part.items - 1;
          for (let item = first; item < part.items; item++) {
            const bytes = store.output(part.number, claims.get(part.number)!, item, output)!;
            write(file, npyData({ dtype, bytes }));
          }
        }
        fsyncSync(file);
        isWhole = true;
      } finally {
        closeSync(file);
        if (!isWhole) rmSync(partial(path, batch));
      }
      renameSync(partial(path, batch), path);
    });
  }
}

/** The outputs of a finished batch's last item, by number. */
export function lastOutputs({ parts, program }: Batch, store: DispatchStore): Map<number, Uint8Array> {
  const last = parts.at(-1)!;
  const claim = store.rightClaim(last.number)!;
  const outputs = program.model.program.outputs.keys();
  return new Map([...outputs].map((output) => [output, store.output(last.number, claim, last.items - 1, output)!]));
}

/** Returns the temporary name of an incomplete file; no other program uses the name. */
const partial = (path: string, { id }: Batch): string => `${path}.${id.slice(2, 18)}.partial`;

function write(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
}

function guarded(path: string, action: () => void): void {
  try {
    action();
  } catch (cause) {
    throw new DispatchOutputError(`${path} cannot be written: ${writeProblem(path, cause)}: name another file`, {
      cause,
    });
  }
}

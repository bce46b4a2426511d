import { resolve } from "node:path";
import type { ModelSpec } from "../../compiler/wraps/modelSpec.ts";
import { decideText } from "../../model/decision/decideSpec.ts";

/**
 * A model as a models file has it (`readModels`), without empty entries: the same program for whoever reads it.
 * Paths are absolute, because the file can lie in another folder.
 */
export function modelEntry({ path, bind, uint8, decide, stepByteLimit, seed, ...others }: ModelSpec): object {
  const decisions = Object.entries(decide ?? {}).map(([output, spec]) => [output, decideText(spec)]);
  const all = {
    path: resolve(path),
    bind: Object.fromEntries(
      Object.entries(bind).map(([name, value]) => [name, typeof value === "string" ? resolve(value) : value]),
    ),
    ...others,
    uint8: uint8.map(({ reverseChannels, ...picture }) => ({ ...picture, reverse: reverseChannels ?? false })),
    decide: Object.fromEntries(decisions) as Record<string, string>,
    stepBytes: stepByteLimit,
    seed: seed?.toString(),
  };
  const isEmpty = (value: unknown): boolean => typeof value === "object" && Object.keys(value ?? {}).length === 0;
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && !isEmpty(value)));
}

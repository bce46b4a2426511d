import { agreeOnMemory, LAYERS, type Layer, type SeenProcessors, sourceOf } from "./observation.ts";
import type { MachinePart } from "./part.ts";

type Field = "vendor" | "model" | "units" | "memoryMiB";
const WORDS: Record<Field, (value: string | number) => string> = {
  vendor: (value) => `vendor ${value}`,
  model: (value) => `model ${value}`,
  units: (value) => `${value} logical processors`,
  memoryMiB: (value) => `${value} MiB of memory`,
};
const FIELDS = Object.keys(WORDS) as Field[];

/** Whose word counts where sources disagree: the kernel first, which runs the programs. */
const ORDER: readonly Layer[] = ["kernel", "hypervisor", "vendor", "user"];

/** The processors of a machine, and where sources disagree. @param seen At least one. */
export function judgeProcessors(seen: readonly SeenProcessors[]): { part: MachinePart; warnings: string[] } {
  const ordered = [...seen].sort((a, b) => ORDER.indexOf(a.layer) - ORDER.indexOf(b.layer));
  const warnings: string[] = [];
  const liars = new Set<SeenProcessors>();
  for (const field of FIELDS) {
    const first = ordered.find((one) => one[field] !== undefined);
    for (const one of ordered) {
      if (first === undefined || one[field] === undefined || agree(field, one[field], first[field]!)) continue;
      liars.add(one);
      warnings.push(
        `${sourceOf(one)} says ${WORDS[field](one[field])}, ${sourceOf(first)} ${WORDS[field](first[field]!)}`,
      );
    }
  }
  const agreeing = ordered.filter((one) => !liars.has(one) && FIELDS.some((field) => one[field] !== undefined));
  const fact = <F extends Field>(field: F) => ordered.find((one) => one[field] !== undefined)?.[field];
  const part: MachinePart = {
    kind: "processors",
    vendor: fact("vendor") ?? "",
    device: fact("model") ?? "",
    uuid: "",
    memoryMiB: fact("memoryMiB") ?? 0,
    units: fact("units") ?? 0,
    layers: LAYERS.filter((layer) => agreeing.some((one) => one.layer === layer)),
  };
  return { part, warnings };
}

function agree(field: Field, a: string | number, b: string | number): boolean {
  return field === "memoryMiB" ? agreeOnMemory(Number(a), Number(b)) : a === b;
}

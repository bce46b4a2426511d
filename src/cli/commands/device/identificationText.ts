import type { Identification } from "../../../attestation/machine/identification.ts";
import { table } from "../../../base/text.ts";

type Part = Identification["parts"][number];

/** Whether programs alone name an accelerator. */
const isUnproven = (kind: Part["kind"], layers: Part["layers"]): boolean =>
  kind === "accelerator" && layers.every((layer) => layer === "user");

/** Returns a machine's reported identification, for people. */
export function identificationLines({ class: kind, root, parts }: Identification): string[] {
  const rows = parts.map(({ kind, vendor, device, memoryMiB, units, layers }) => [
    kind,
    [vendor, device].filter((name) => name !== "").join(" ") || "unknown",
    `${units} x`,
    `${memoryMiB} MiB`,
    `seen by: ${layers.join(", ") || "nobody alike"}${isUnproven(kind, layers) ? ": unproven" : ""}`,
  ]);
  return [
    ...table(rows),
    ...table([
      ["class", kind],
      ["root", root],
    ]),
  ];
}

import type { Identification } from "../../../attestation/machine/identification.ts";
import { table } from "../../../base/text.ts";

/** Returns a machine's reported identification, for people. */
export function identificationLines({ class: kind, root, parts }: Identification): string[] {
  const rows = parts.map(({ kind, vendor, device, memoryMiB, units, layers }) => [
    kind,
    [vendor, device].filter((name) => name !== "").join(" ") || "unknown",
    `${units} x`,
    `${memoryMiB} MiB`,
    `seen by: ${layers.join(", ") || "nobody alike"}${kind === "accelerator" && layers.join() === "user" ? ": unproven" : ""}`,
  ]);
  return [
    ...table(rows),
    ...table([
      ["class", kind],
      ["root", root],
    ]),
  ];
}

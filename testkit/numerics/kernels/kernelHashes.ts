import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { KERNEL_PARTS, type KernelPart, type Variant } from "../../../src/numerics/kernels/kernelHashes.ts";

const VARIANTS: readonly Variant[] = ["madd twoMemories", "madd oneMemory", "mulAdd twoMemories", "mulAdd oneMemory"];

/** Returns the SHA-256 of each kernel part in each variant, from the current code. */
export function currentKernelHashes(): Record<KernelPart, Record<Variant, string>> {
  const all = VARIANTS.map((variant) => {
    const args = ["--no-warnings", join(import.meta.dirname, "hashesOf.ts"), variant];
    return [
      variant,
      JSON.parse(execFileSync(process.execPath, args).toString()) as Record<KernelPart, string>,
    ] as const;
  });
  const row = (part: KernelPart) => Object.fromEntries(all.map(([variant, hashes]) => [variant, hashes[part]]));
  return Object.fromEntries(KERNEL_PARTS.map((part) => [part, row(part)])) as ReturnType<typeof currentKernelHashes>;
}

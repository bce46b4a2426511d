import { createHash } from "node:crypto";
import { CannotRunHereError } from "../../base/platform.ts";
import { hasRelaxedMadd } from "./assembler/relaxed.ts";
import { hasTwoMemories } from "./elementary/tables.ts";
import { KERNEL_HASHES, type KernelPart, type Variant } from "./kernelHashes.ts";

/** Which of the kernels' forms this engine gets; they differ in instructions, not in results. */
export const VARIANT: Variant = `${hasRelaxedMadd ? "madd" : "mulAdd"} ${hasTwoMemories ? "twoMemories" : "oneMemory"}`;

/** The kernels built by this process differ from the tested kernels. */
export class OtherKernelsError extends CannotRunHereError {
  readonly part: KernelPart;
  readonly hash: string;

  constructor(part: KernelPart, hash: string) {
    super(
      `the ${part} of the kernels (${VARIANT}) are not those that were tested: SHA-256 ${hash}, not ` +
        `${KERNEL_HASHES[part][VARIANT]}; nothing can be executed here: install Refute again, or use another version ` +
        "of Node or another machine",
    );
    this.part = part;
    this.hash = hash;
  }
}

/**
 * Returns a kernel's bytes if they match the tested bytes (kernelHashes.ts). Each process builds the kernels anew, from
 * the mathematics of src/numerics: an engine's computing error or an altered file becomes visible here and not in a
 * result.
 * @throws OtherKernelsError
 */
export function checked<Bytes extends Uint8Array>(part: KernelPart, bytes: Bytes): Bytes {
  const hash = createHash("sha256").update(bytes).digest("hex");
  if (hash !== KERNEL_HASHES[part][VARIANT]) throw new OtherKernelsError(part, hash);
  return bytes;
}

// Writes the hashes of the kernels, which every process that executes compares with what it makes.
//   npm run kernels
import { readFileSync, writeFileSync } from "node:fs";
import { currentKernelHashes } from "../../testkit/numerics/kernels/kernelHashes.ts";

const FILE = "src/numerics/kernels/kernelHashes.ts";
const DECLARATION = "export const KERNEL_HASHES: Record<KernelPart, Record<Variant, string>> = ";

const source = readFileSync(FILE, "utf8");
const kept = source.slice(0, source.indexOf(DECLARATION));
writeFileSync(FILE, `${kept}${DECLARATION}${JSON.stringify(currentKernelHashes(), null, 2)};\n`);

/** Writes the hashes of the kernels. Every process that executes compares its kernels with them. */
import { readFileSync } from "node:fs";
import { currentKernelHashes } from "../../testkit/numerics/kernels/kernelHashes.ts";
import { readOptions } from "../options.ts";
import { writeFormatted } from "./writeFormatted.ts";

const FILE = "src/numerics/kernels/kernelHashes.ts";
const DECLARATION = "export const KERNEL_HASHES: Record<KernelPart, Record<Variant, string>> = ";

readOptions({});
const source = readFileSync(FILE, "utf8");
const kept = source.slice(0, source.indexOf(DECLARATION));
const text = `${kept}${DECLARATION}${JSON.stringify(currentKernelHashes())};\n`;
await writeFormatted(FILE, text);

import { existsSync } from "node:fs";
import type { Context } from "mocha";
import { Gpu, openGpu, type Bounds } from "../../src/executor/gpu/device.ts";

/** The driver of Debian's chromium. */
const SWIFTSHADER = "/usr/lib/chromium/vk_swiftshader_icd.json";

let opened: Promise<Gpu> | undefined;

/**
 * The software GPU for tests, opened once a process. It names the driver for the Vulkan loader before the package
 * `webgpu` is loaded. A test without the package, the driver or the loader is skipped and says why.
 */
export async function softwareGpu(context: Context): Promise<Gpu> {
  if (existsSync(SWIFTSHADER)) {
    process.env.VK_ICD_FILENAMES = process.env.VK_DRIVER_FILES ??= SWIFTSHADER;
    process.env.XDG_RUNTIME_DIR ??= "/tmp";
  }
  try {
    return await (opened ??= openGpu());
  } catch (error) {
    console.log(`      skipped: ${(error as Error).message}`);
    return context.skip();
  }
}

/** The same GPU with narrower bounds: a small adapter. */
export function shrunkenGpu(gpu: Gpu, narrower: Partial<Bounds>): Gpu {
  const shrunken = new Gpu(gpu.device, gpu.facts, { ...gpu.bounds, ...narrower });
  shrunken.pipeline = gpu.pipeline.bind(gpu);
  return shrunken;
}

/** The same GPU with a planted fault: every kernel's text is changed. */
export function faultyGpu(gpu: Gpu, from: string, to: string): Gpu {
  const faulty = new Gpu(gpu.device, gpu.facts, gpu.bounds);
  faulty.pipeline = (source, pages) => gpu.pipeline(source.replaceAll(from, to), pages);
  return faulty;
}

import { openGpu } from "../src/executor/gpu/device.ts";
import { selfTestGpu } from "../src/executor/gpu/selfTest.ts";
process.env.VK_ICD_FILENAMES = process.env.VK_DRIVER_FILES = "/usr/lib/chromium/vk_swiftshader_icd.json";
const c = process.cpuUsage(), t = performance.now();
const gpu = await openGpu();
await selfTestGpu(gpu, 1);
const d = process.cpuUsage(c);
console.log(`self test: ${((d.user + d.system) / 1e6).toFixed(1)} s of processor, ${((performance.now() - t) / 1e3).toFixed(1)} s`);
gpu.close();

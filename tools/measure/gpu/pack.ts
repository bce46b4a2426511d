import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { UsageError } from "../../options.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const OWN = ["src", "testkit", "tools", "package.json"];
/** The packages that a visit loads, besides those that they need. */
const PACKAGES = ["webgpu", "onnxruntime-node", "onnx-buf", "viem", "zod", "@bufbuild/protobuf"];
const PLATFORM = `${process.platform}-${process.arch}`;
/** The Vulkan loader, where Debian has it. */
const LOADER = "/usr/lib/x86_64-linux-gnu/libvulkan.so.1";

const SCRIPT = `#!/bin/sh
# Runs the visit; what it finds lies in visit.json and visit-reports. Options are those of npm run measure -- gpu.
cd "$(dirname "$0")" || exit 1
export LD_LIBRARY_PATH="\${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$PWD/lib" XDG_RUNTIME_DIR="\${XDG_RUNTIME_DIR:-/tmp}"
exec ./node tools/main.ts measure gpu "$@"
`;

/**
 * Makes an archive for a machine of this platform with a GPU's driver, but without Node, Dawn or the Vulkan loader.
 * @throws UsageError without the packages, or where tar fails
 */
export function pack(path: string): void {
  const folder = mkdtempSync(join(tmpdir(), "refute-visit-"));
  try {
    for (const name of OWN) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    for (const name of closure(PACKAGES)) copyPackage(name, folder);
    copyFileSync(process.execPath, join(folder, "node"));
    if (existsSync(LOADER)) {
      mkdirSync(join(folder, "lib"));
      copyFileSync(LOADER, join(folder, "lib/libvulkan.so.1"));
    }
    writeFileSync(join(folder, "visit.sh"), SCRIPT, { mode: 0o755 });
    const { status } = spawnSync("tar", ["-C", folder, "-cJf", resolve(path), "."], {
      stdio: "inherit",
      env: { XZ_OPT: "-6 -T0", ...process.env },
    });
    if (status !== 0) throw new UsageError(`--pack ${path}: tar cannot write it`);
    console.log(
      `${path}: unpack it beside the GPU (tar -xJf), run ./visit.sh, bring visit.json and visit-reports back`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The packages, and those that they need. */
function closure(names: readonly string[]): string[] {
  const found = [...names];
  for (let k = 0; k < found.length; k++) {
    const path = join(ROOT, "node_modules", found[k]!, "package.json");
    if (!existsSync(path)) throw new UsageError(`--pack needs the package ${found[k]!}: npm install`);
    const { dependencies = {} } = JSON.parse(readFileSync(path, "utf8")) as { dependencies?: Record<string, string> };
    found.push(...Object.keys(dependencies).filter((name) => !found.includes(name)));
  }
  return found;
}

/** Copies a package without its binaries for other platforms, and without libraries for CUDA. */
function copyPackage(name: string, folder: string): void {
  const from = join(ROOT, "node_modules", name);
  const own = { webgpu: `dist/${PLATFORM}`, "onnxruntime-node": `bin/napi-v6/${process.platform}/${process.arch}` };
  const binaries = /(?:dist\/|bin\/napi-v\d+\/)[a-z\d]+[-/][a-z\d]+/;
  const isForeign = (path: string): boolean => {
    const [binary] = name in own ? (binaries.exec(path) ?? []) : [];
    if (binary !== undefined && binary !== own[name as keyof typeof own]) return true;
    return /\.(map|d\.[cm]?ts)$|\/_(types|cjs)(\/|$)|providers_(cuda|tensorrt)/.test(path.slice(from.length));
  };
  cpSync(from, join(folder, "node_modules", name), { recursive: true, filter: (path) => !isForeign(path) });
}

import { expect } from "chai";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

/** Folders from the ground up: a folder may import itself and what stands before it. */
const ORDER = [
  "src/errors.ts",
  "src/redact.ts",
  "src/numerics",
  "src/kernels",
  "src/merkle",
  "src/program",
  "src/onnx",
  "src/compiler",
  "src/executor",
  "src/trace",
  "src/chain",
  "src/provisioning",
  "src/worker",
  "watcher",
  "src/sdk",
  "src/cli",
];

const rank = (file: string): number => ORDER.findIndex((folder) => file === folder || file.startsWith(`${folder}/`));

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));
}

describe("architecture", () => {
  it("imports_goOneWay", () => {
    const wrong: string[] = [];
    for (const file of [...sources("src"), ...sources("watcher")]) {
      expect(rank(file), `${file} has no place in the order`).to.be.at.least(0);
      for (const [, path] of readFileSync(file, "utf8").matchAll(/from "(\.[^"]+)"/g)) {
        const target = relative(".", normalize(join(dirname(file), path!)));
        const outside = rank(target) === -1;
        if (!outside && rank(target) > rank(file)) wrong.push(`${file} imports ${target}`);
      }
    }
    expect(wrong).to.deep.equal([]);
  });
});

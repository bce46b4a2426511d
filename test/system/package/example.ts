import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../../../testkit/processes/runCommand.ts";
import { Shell } from "./shell.ts";
import { shellLines } from "./shellLines.ts";

/** `examples/iris`, installed, built and used as its page says, with the packed package in place of the registry's. */
export class Example {
  readonly at: string;
  readonly #shell: Shell;
  readonly #answers = new Map<string, string>();

  private constructor(at: string, tarball: string) {
    this.at = at;
    this.#shell = new Shell(at, tarball);
  }

  /** @throws Error with what a line of the page printed */
  static async start(tarball: string, folder: string): Promise<Example> {
    const at = join(folder, "iris");
    mkdirSync(at);
    cpSync("examples/iris", at, { recursive: true, filter: (path) => !path.includes("node_modules") });
    const file = join(at, "package.json");
    const manifest = JSON.parse(readFileSync(file, "utf8")) as { dependencies: Record<string, string> };
    manifest.dependencies["refute-ml"] = `file:${tarball}`;
    writeFileSync(file, JSON.stringify(manifest));
    const example = new Example(at, tarball);
    try {
      for (const line of shellLines("examples/iris/README.md"))
        example.#answers.set(line.replace(/ +#.*/, ""), await example.#shell.type(line));
    } catch (error) {
      await example.stop();
      throw error;
    }
    return example;
  }

  /** Whether the audit of the model is clean. */
  audit(): boolean {
    const args = ["refute-ml", "model", "audit", "model/iris.onnx", "--samples", "8", "--json"];
    return (JSON.parse(runCommand("npx", args, this.at)) as { clean: boolean }).clean;
  }

  /** What the script prints about the usual flower. */
  answer(): string {
    return this.#answers.get("npm run ask")!;
  }

  /** The files that its page needs and that are not there. */
  missingFiles(): string[] {
    return ["page/page.js", "page/oracle.json"].filter((file) => !existsSync(join(this.at, file)));
  }

  stop(): Promise<void> {
    return this.#shell.stop();
  }
}

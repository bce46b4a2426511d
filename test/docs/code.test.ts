import { expect } from "chai";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import ts from "typescript";
import { itAtLength } from "../../testkit/atLength.ts";

/** Pages whose TypeScript is for users of the package. */
const PAGES = ["README.md", "docs/sdk.md"];

/** What the pages leave to their readers. */
const YOURS = `
  import type { Address, EIP1193Provider, Hex } from "viem";
  declare global {
    const rpcUrl: string, addressFile: string, chainId: number;
    const market: Address, key: Hex, pixels: Float32Array, provider: EIP1193Provider;
  }
`;

/** The blocks of TypeScript on a page. */
const blocksOf = (page: string): string[] =>
  [...readFileSync(page, "utf8").matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, block]) => block!);

describe("code on pages for users", function () {
  itAtLength("everyBlock_compilesInStrictTypeScript_againstTheEntriesOfThePackage", function () {
    this.timeout(240_000);
    const blocks = PAGES.flatMap((page) => blocksOf(page).map((text, k) => [`${page}.${k}.ts`, text] as const));
    expect(blocks).to.have.length.above(3);
    const files = new Map([...blocks, ["yours.ts", YOURS] as const].map(([name, text]) => [resolve(name), text]));
    const options: ts.CompilerOptions = {
      ...{ strict: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true, types: ["node"] },
      ...{ target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      paths: { "refute-ml/*": [resolve("src/package/*.ts")] },
    };
    const host = ts.createCompilerHost(options);
    const onDisk = ts.createCompilerHost(options);
    host.fileExists = (path) => files.has(path) || onDisk.fileExists(path);
    host.readFile = (path) => files.get(path) ?? onDisk.readFile(path);
    host.getSourceFile = (path, version, ...others) =>
      files.has(path)
        ? ts.createSourceFile(path, files.get(path)!, version)
        : onDisk.getSourceFile(path, version, ...others);
    const program = ts.createProgram([...files.keys()], options, host);
    const problems = [...files.keys()].flatMap((path) => [
      ...program.getSyntacticDiagnostics(program.getSourceFile(path)),
      ...program.getSemanticDiagnostics(program.getSourceFile(path)),
    ]);
    expect(ts.formatDiagnostics(problems, host)).to.equal("");
  });
});

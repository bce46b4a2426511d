import { expect } from "chai";
import { transformSync } from "esbuild";
import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { lineMappings } from "../../tools/package/sourceMaps.mjs";

describe("source maps of the package", () => {
  it("thinned_sayTheSameLineOfEveryPlace", () => {
    const path = "src/parties/worker/worker.ts";
    const { code, map } = transformSync(readFileSync(path, "utf8"), {
      loader: "ts",
      minifyWhitespace: true,
      sourcemap: "external",
      sourcefile: path,
    });
    const payload = JSON.parse(map) as SourceMapPayload;
    const thinned = { ...payload, names: [], mappings: lineMappings(payload.mappings) };
    expect(thinned.mappings.length).to.be.below(payload.mappings.length / 2);
    const linesOf = (each: SourceMapPayload): unknown[] => {
      const found = new SourceMap(each);
      return code.split("\n").flatMap((line, at) =>
        Array.from(line, (_, column) => {
          const { originalSource, originalLine } = found.findEntry(at, column) as Record<string, unknown>;
          return [originalSource, originalLine];
        }),
      );
    };
    const before = linesOf(payload);
    expect(new Set(before.map(String))).to.have.length.above(50);
    expect(linesOf(thinned)).to.deep.equal(before);
  });
});

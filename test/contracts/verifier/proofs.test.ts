import { readFileSync } from "node:fs";
import { expect } from "chai";
import type { Hex } from "viem";
import { createCallChain } from "../../../testkit/verifier/callChain.ts";
import { hasHole } from "../../../tools/verify/proofs/prove.ts";
import { changedFunctions, MODELLED, SENTENCE, THEOREMS } from "../../../tools/verify/proofs/theorems.ts";
import { GOLDEN, PAIRS, SUMS, type ModelWords } from "../../../tools/verify/proofs/vectors.ts";

const packed = (words: readonly bigint[]): Hex =>
  `0x${words.map((word) => word.toString(16).padStart(8, "0")).join("")}`;
const unpacked = (bytes: Hex): number[] => (bytes.slice(2).match(/.{8}/g) ?? []).map((digits) => parseInt(digits, 16));
const flat = (text: string): string => text.replace(/\s+/g, " ");

describe("what is proven about the arithmetic", function () {
  this.timeout(120_000);

  const golden = JSON.parse(readFileSync(GOLDEN, "utf8")) as ModelWords;
  const deploy = async () => (await createCallChain()).viem.deployContract("Float32Harness");

  it("bytecode_givesTheModelsWords", async () => {
    const harness = await deploy();
    const sums: number[] = [];
    for (const { terms, rows } of SUMS)
      sums.push(...unpacked((await harness.read.dots([packed(rows.flat(2)), BigInt(terms)]))[0]));
    expect(sums).to.deep.equal(golden.sums);
    const [products] = await harness.read.float32(["mul", packed(PAIRS.flat())]);
    expect(unpacked(products)).to.deep.equal(golden.products);
  });

  it("vectors_haveEveryKindOfWord", () => {
    for (const words of [golden.sums, golden.products]) {
      const kinds = new Set(
        words.map((word) => [word >>> 31, Math.sign(((word >>> 23) & 0xff) - 255), word & 0x7f800000 ? 1 : 0].join()),
      );
      // numbers, subnormals and infinities of both signs; the zero and the NaN count with the positive ones
      expect(kinds.size).to.equal(6);
      expect(words).to.include.members([0, 0x7fc00000]);
    }
  });

  it("functions_areThoseThatWereModelled", () => {
    expect(changedFunctions()).to.deep.equal([]);
  });

  for (const [library, functions] of Object.entries(MODELLED)) {
    it(`changeOf_${library}_isFound`, () => {
      for (const name of Object.keys(functions).filter((each) => each !== "constants")) {
        const edited = (path: string): string =>
          readFileSync(path, "utf8").replace(new RegExp(`(/${library}\\.sol|function ${name}\\([^{]*\\{)`), "$1 ;");
        const found = changedFunctions((path) =>
          path.endsWith(`/${library}.sol`) ? edited(path) : readFileSync(path, "utf8"),
        );
        expect(found.join("\n"), name).to.match(new RegExp(`^${library}\\.${name} is \\w+, but \\w+ was modelled$`));
      }
    });
  }

  it("holes_areFound", () => {
    expect(hasHole("Lemma a : 1 = 2. Admitted.")).to.equal(true);
    expect(hasHole("Axiom a : 1 = 2.")).to.equal(true);
    expect(hasHole("(* an Axiom of Coq *) Lemma a : 1 = 1. Proof. reflexivity. Qed.")).to.equal(false);
  });

  it("pages_haveTheTable", () => {
    const page = flat(readFileSync("docs/security.md", "utf8"));
    for (const { name, file, says } of THEOREMS) expect(page).to.include(`- \`${file}.${name}\`: ${says}`);
    for (const [library, functions] of Object.entries(MODELLED)) {
      const names = Object.keys(functions).filter((each) => each !== "constants");
      expect(page).to.include(`- \`${library}\`: ${names.map((name) => `\`${name}\``).join(", ")}`);
    }
    expect(flat(readFileSync("README.md", "utf8"))).to.include(SENTENCE);
  });
});
